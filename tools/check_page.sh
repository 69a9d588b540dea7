#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
#
# tools/check_page.sh PROGRAM NAME FILE: the page that PROGRAM prints for NAME must be FILE.
# `cmake --build build/release --target berth_docs` writes the pages anew.
set -euo pipefail
"$1" "$2" | diff -u "$3" -
