#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
#
# tools/gpu_check.sh [BUILD [OUT]]
# What the nccl backend does on a machine with one GPU: one rank, then two and four ranks on that GPU,
# which NCCL takes for hosts of their own (NCCL_HOSTID) and connects by sockets; then how long the
# others need when one rank is killed. JSON documents go to OUT (gpu-check), a short text to stdout.
# BERTH_CUDART_LIB and BERTH_NCCL_LIB name other libraries. Exit code 1 when something is not right.
set -uo pipefail
build=${1:-$(dirname "$0")/../build/release}
out=${2:-gpu-check}
berth=$(realpath "$build")/bin/berth
mpirun=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# Ranks that share a GPU take turns: few blocks each, so that they fit beside each other.
export NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-lo} NCCL_NET=Socket NCCL_MAX_CTAS=1
mkdir -p "$out"
bad=0

# job RANKS WORD...: one app context per rank, so that each has a NCCL_HOSTID.
job() {
  local ranks=$1 line=() rank
  shift
  for ((rank = 0; rank < ranks; ++rank)); do
    [ "$rank" = 0 ] || line+=(:)
    line+=(-x "NCCL_HOSTID=rank$rank" -np 1 "$berth" "$@")
  done
  "$mpirun" "${line[@]}"
}

# step NAME RANKS WORD...: one line with the verdict, the document in OUT/NAME.json.
step() {
  local name=$1 ranks=$2 code=0 start
  shift 2
  start=$(date +%s.%N)
  job "$ranks" "$@" --backend nccl --deadline 60 --json "$out/$name.json" >"$out/$name.txt" 2>&1 || code=$?
  [ "$code" = 0 ] || bad=1
  printf '%-18s exit %d  %6.1f s  %s\n' "$name" "$code" \
    "$(awk "BEGIN {print $(date +%s.%N) - $start}")" "$(grep -E '^(good|bad|berth:)' "$out/$name.txt" | tail -n 1)"
}

# killed RANKS: seconds from kill -9 of one rank to the end of the job, and the line that names it.
killed() {
  local ranks=$1 launcher victim start
  job "$ranks" verify --backend nccl --rounds 1000000 --deadline 10 >"$out/killed-$ranks.txt" 2>&1 &
  launcher=$!
  sleep 8
  # The last rank below the launcher, which is below the shell of `job`.
  victim=$(pgrep -P "$(pgrep -n -P "$launcher")" | tail -n 1)
  [ -n "$victim" ] || { bad=1; return; }
  start=$(date +%s.%N)
  kill -9 "$victim"
  wait "$launcher"
  printf '%-18s ended %.2f s after kill -9: %s\n' "killed, $ranks ranks" \
    "$(awk "BEGIN {print $(date +%s.%N) - $start}")" "$(grep -m 1 '^berth: rank' "$out/killed-$ranks.txt")"
  grep -q '^berth: rank .*dead' "$out/killed-$ranks.txt" || bad=1
}

command -v nvidia-smi >/dev/null && nvidia-smi -L
"$berth" info --json "$out/info.json" | sed -n '/^  CUDA/p; /^  NCCL/p'
for ranks in 1 2 4; do
  step "verify-$ranks" "$ranks" verify
  step "bench-$ranks" "$ranks" bench all -b 8 -e 16M -f 16 -n 5
done
step graph-1 1 bench all_reduce -b 8 -e 1M -f 8 -n 5 -G 10
step registered-1 1 bench all_reduce -b 8 -e 16M -f 8 -n 5 -R 1
killed 2
exit "$bad"
