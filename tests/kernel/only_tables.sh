#!/bin/sh
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
# only_tables.sh NM OBJECT... — an object compiled for one instruction set may define its table of
# kernels and nothing else that a linker can see: any other function could replace the same one of
# an object that must run on every processor.
nm=$1
shift
bad=0
for object in "$@"; do
  case $object in *reduce_*) ;; *) continue ;; esac
  leaked=$("$nm" -C --defined-only --extern-only "$object" | grep -v ' berth::kernel::[a-z0-9]*_kernels$' |
    grep -v ' __odr_asan\.')
  if [ -n "$leaked" ]; then
    printf '%s defines\n%s\n' "$object" "$leaked"
    bad=1
  fi
done
exit $bad
