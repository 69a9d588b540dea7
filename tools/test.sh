#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
#
# tools/test.sh [everyday|all]
# everyday: all but the slow tests. all: everything, and the sanitizers: address and undefined on the
# unit and MPI tests, thread on the tests whose ranks are threads; they have a build of their own each.
# The last line is "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/.."
case ${1:-everyday} in
  everyday)
    release_filter=(-LE slow)
    sanitize=no
    ;;
  all)
    release_filter=()
    sanitize=yes
    ;;
  *)
    echo "usage: tools/test.sh [everyday|all], not '$1'" >&2
    exit 2
    ;;
esac
reports=$PWD/build/reports
rm -rf "$reports"
mkdir -p "$reports"
broken=0

# stage PRESET TARGET... -- CTEST-ARGUMENTS: configure, build, test. A stage that cannot be built
# counts as one failed test and does not keep the next one from running.
stage() {
  local preset=$1 status=0
  local targets=()
  shift
  while [ "$1" != -- ]; do
    targets+=("$1")
    shift
  done
  shift
  echo "== $preset"
  if ! cmake --preset "$preset" -DBERTH_TESTS=ON >"$reports/$preset.log" 2>&1; then
    tail -n 30 "$reports/$preset.log"
    broken=$((broken + 1))
  elif ! cmake --build "build/$preset" --target "${targets[@]}"; then
    broken=$((broken + 1))
  else
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j 2 \
      --output-junit "$reports/$preset.xml" "$@" || status=$?
    # 8: tests failed, which the report counts; anything else: ctest itself could not work.
    [ "$status" = 0 ] || [ "$status" = 8 ] || broken=$((broken + 1))
  fi
}

stage release all berth_tests -- "${release_filter[@]}"
if [ "$sanitize" = yes ]; then
  stage asan-ubsan berth_tests_unit berth_tests_fuzz berth_tests_mpi -- -L 'unit|fuzz|mpi' -LE slow
  stage tsan berth_tests_threads -- -L threads
fi
python3 tools/count_tests.py --broken "$broken" "$reports"/*.xml
