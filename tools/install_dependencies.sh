#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
#
# tools/install_dependencies.sh [build|test|lint]
# Installs what is missing to build Berth, to test it, or to lint it. As root with apt-get it installs
# exactly that; otherwise it prints the commands for apt, dnf and spack and ends with 3. Never sudo.
# A tool or library that comes from elsewhere (a module, a spack view) counts as present.
set -euo pipefail

# Debian package | Fedora/EL package (with EPEL) | spack package | how it is found
build_needs='
g++ gcc-c++ gcc command:c++
make make gmake command:make
cmake cmake cmake command:cmake
ninja-build ninja-build ninja command:ninja
pkg-config pkgconf-pkg-config pkgconf command:pkg-config
libopenmpi-dev openmpi-devel openmpi command:mpicc
openmpi-bin openmpi openmpi command:mpirun
libhwloc-dev hwloc-devel hwloc header:hwloc.h
libpugixml-dev pugixml-devel pugixml header:pugixml.hpp
libfmt-dev fmt-devel fmt header:fmt/format.h
libcli11-dev cli11-devel cli11 header:CLI/CLI.hpp
nlohmann-json3-dev json-devel nlohmann-json header:nlohmann/json.hpp
'
test_needs='
gcc gcc gcc command:cc
libgtest-dev gtest-devel googletest header:gtest/gtest.h
libgmock-dev gmock-devel googletest header:gmock/gmock.h
libbenchmark-dev google-benchmark-devel benchmark header:benchmark/benchmark.h
python3 python3 python command:python3
clang-format clang-tools-extra llvm command:clang-format
spin spin - command:spin
'
lint_needs='
clang-tidy clang-tools-extra llvm command:clang-tidy
'

case ${1:-build} in
  build) needs=$build_needs ;;
  test) needs=$build_needs$test_needs ;;
  lint) needs=$build_needs$test_needs$lint_needs ;;
  *)
    echo "usage: tools/install_dependencies.sh [build|test|lint], not '$1'" >&2
    exit 2
    ;;
esac

# One dpkg-query is the whole cost of a second run on Debian.
have=' '
if command -v dpkg-query >/dev/null; then
  names=()
  while read -r debian _; do [ -z "$debian" ] || names+=("$debian"); done <<<"$needs"
  while read -r state package; do [ "$state" != ii ] || have+="$package "; done < <(
    dpkg-query --show --showformat '${db:Status-Abbrev} ${Package}\n' "${names[@]}" 2>/dev/null || true
  )
fi

found() {
  case $1 in
    command:*) command -v "${1#command:}" >/dev/null ;;
    header:*)
      command -v c++ >/dev/null &&
        c++ -E -x c++ -include "${1#header:}" /dev/null >/dev/null 2>&1 </dev/null
      ;;
  esac
}

add() { # add ARRAY WORD: append once; "-" is no package
  local -n list=$1
  [ "$2" = - ] || [[ " ${list[*]} " == *" $2 "* ]] || list+=("$2")
}

apt=() dnf=() spack=()
while read -r debian fedora other how; do
  [ -n "$debian" ] || continue
  [[ $have != *" $debian "* ]] || continue
  ! found "$how" || continue
  add apt "$debian"
  add dnf "$fedora"
  add spack "$other"
done <<<"$needs"
[ ${#apt[@]} -gt 0 ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  echo "installing: ${apt[*]}" >&2
  apt-get -q update </dev/null >&2
  apt-get -q install -y --no-install-recommends "${apt[@]}" </dev/null >&2
  exit 0
fi
{
  echo 'Berth needs packages that are not here. Install them with one of'
  echo "  apt-get install --no-install-recommends ${apt[*]}"
  echo "  dnf install ${dnf[*]}"
  echo "  spack install ${spack[*]}"
  echo 'and start again.'
} >&2
exit 3
