// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// Prints the text of a generated document: `docs_dump env` or `docs_dump errors`.
#include <cstdio>
#include <string>
#include <string_view>

#include <base/env.hpp>

int main(int argc, char** argv) {
  std::string_view const which = argc == 2 ? argv[1] : "";
  std::string text;
  if (which == "env") text = berth::base::env_markdown();
  if (which == "errors") text = berth::base::errors_markdown();
  if (text.empty()) {
    std::fputs("usage: docs_dump env|errors\n", stderr);
    return 2;
  }
  return std::fputs(text.c_str(), stdout) < 0 ? 1 : 0;
}
