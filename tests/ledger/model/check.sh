#!/bin/sh
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
# check.sh MODEL holds|fails [-DSWITCH ...]: lets spin search all states of MODEL. `holds` expects no
# error, `fails` that one is found. Exit code 77 (skipped) where spin or a C compiler is missing.
set -eu
model=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
expected=$2
shift 2
for tool in spin cc; do
  if ! command -v $tool >/dev/null 2>&1; then
    echo "skipped: $tool is not installed"
    exit 77
  fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"
spin -a "$@" "$model"
cc -O1 -w -DSAFETY -DCOLLAPSE -DNOFAIR -DMEMLIM=2500 -o pan pan.c
# -m: depth; a search that does not reach the end of its depth is complete only if it says so.
./pan -m100000 >result 2>&1 || true
grep -E "errors:|States|states, stored|assertion|invalid end|pan:" result || cat result
if grep -qE "max search depth too small|out of memory|MEMLIM bound" result; then
  echo "the search is not complete"
  exit 1
fi
if grep -q "errors: 0" result; then found=holds; else found=fails; fi
grep -q "errors:" result || { echo "spin gave no result"; exit 1; }
if [ "$found" != "$expected" ]; then
  echo "expected that the model $expected, but it $found"
  trail=$(basename "$model").trail
  [ -f "$trail" ] && spin -t -k "$trail" -p "$@" "$model" 2>/dev/null | tail -80
  exit 1
fi
