#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
#
# tools/check_format.sh [--fix]
# Compares every C++ file with .clang-format, or formats it. 77 (skipped) without clang-format.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-format >/dev/null || exit 77
mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)
folders=()
for folder in src include tests bench examples; do [ ! -d "$folder" ] || folders+=("$folder"); done
find "${folders[@]}" -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.inc' -o -name '*.h' \) -print0 |
  xargs -0 -P 2 -n 16 clang-format "${mode[@]}"
