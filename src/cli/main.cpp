// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cli/cli.hpp>

int main(int argc, char** argv) {
  return berth::cli::run(argc, argv, {});
}
