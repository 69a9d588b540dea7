#!/bin/sh
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
# arm.sh SOURCE BUILD — builds the rooms without MPI for 64-bit Arm and runs their unit tests under
# qemu-user, with pages of 4 KiB and of 64 KiB. Ends with 77 where the tools are missing.
source=$1
build=$2
for tool in aarch64-linux-gnu-g++ qemu-aarch64 ninja; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: no $tool here (Debian: g++-aarch64-linux-gnu qemu-user ninja-build)"
    exit 77
  fi
done
if [ ! -e /usr/src/googletest/CMakeLists.txt ]; then
  echo "skipped: no sources of GoogleTest in /usr/src/googletest (Debian: googletest)"
  exit 77
fi
set -e
cmake -G Ninja -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBERTH_CORE_ONLY=ON \
  --toolchain "$source/cmake/toolchains/aarch64.cmake"
cmake --build "$build" --target all berth_tests
QEMU_PAGESIZE=4096 ctest --test-dir "$build" --output-on-failure --label-regex unit
echo 'pages of 64 KiB'  # what is long depends on no page
QEMU_PAGESIZE=65536 ctest --test-dir "$build" --output-on-failure --label-regex unit \
  --exclude-regex kernel.reduce
