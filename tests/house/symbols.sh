#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
#
# symbols.sh LIBRARY: libberth.so exports the public interface and nothing of its rooms.
set -euo pipefail
symbols=$(nm -D --defined-only -C "$1" | sed 's/^[0-9a-f]* [A-Za-z] //')
for name in 'berth::Communicator::all_reduce' 'berth::verify(' 'berth::run_main(' 'berth::errc_text('; do
  grep -qF "$name" <<<"$symbols" || { echo "not exported: $name" >&2; exit 1; }
done
rooms=$(sed -n 's/^    "\([a-z]*\)": .*/\1/p' "$(dirname "$0")/../../tools/check_layers.py" | paste -sd '|')
if grep -E "^(typeinfo (name )?for |vtable for |guard variable for )?berth::($rooms)::" <<<"$symbols"; then
  echo 'these belong to rooms and must be hidden' >&2
  exit 1
fi
