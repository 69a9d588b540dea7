// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <base/env.hpp>

namespace berth::base {

std::string env_markdown() {
  std::string out =
      "# Environment variables\n\n"
      "Every variable Berth reads. What a program passes in `berth::Options` or on the command "
      "line "
      "comes first,\nthen the environment, then the default. A text that is not accepted is an "
      "error that names the variable,\nthe value and the rule; so are an empty value and a "
      "`BERTH_*` name that is not in this list. `berth info`\nshows the values in force and where "
      "each came from.\n\n"
      "This page is generated from the table in `src/base/env.cpp`.\n";
  for (Variable const& variable : variables()) {
    out += fmt::format(
        "\n## {}\n\n{}\n\n- Type: {}\n- Default: {}\n- Accepts: {}\n- Since: {}\n", variable.name,
        variable.help, variable.type,
        variable.fallback.empty() ? std::string("none") : fmt::format("`{}`", variable.fallback),
        variable.accepts, variable.since);
  }
  return out;
}

}  // namespace berth::base
