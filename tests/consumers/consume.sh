#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
#
# consume.sh cmake|pkgconfig STAGE SOURCE WORK CXX MPICXX LAUNCHER...
# Builds examples/hello.cpp against the installed Berth, as a user would, and runs it with 2 ranks.
set -euo pipefail
how=$1 stage=$2 source=$3 work=$4 compiler=$5 wrapper=$6
shift 6
hello=$source/examples/hello.cpp
rm -rf "$work"
mkdir -p "$work"
case $how in
  cmake)
    cmake -G Ninja -S "$source/tests/consumers/cmake" -B "$work" -DCMAKE_PREFIX_PATH="$stage" \
      -DCMAKE_CXX_COMPILER="$compiler" -DHELLO="$hello"
    cmake --build "$work"
    "$@" "$work/hello17" | grep -q 'sum 1$'
    ;;
  pkgconfig)
    package=$(find "$stage" -name berth.pc -print -quit)
    PKG_CONFIG_PATH=$(dirname "$package")
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046 # several words are meant
    "$wrapper" -std=c++17 "$hello" $(pkg-config --cflags --libs berth) -o "$work/hello"
    LD_LIBRARY_PATH=$(dirname "$(dirname "$package")")
    export LD_LIBRARY_PATH
    ;;
esac
"$@" "$work/hello" | tee "$work/output"
grep -q 'sum 1$' "$work/output"
