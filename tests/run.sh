#!/usr/bin/env bash
# Runs the tests and ends with one line that counts them.
#   tests/run.sh quick    unit and command-line tests (plain and with sanitizers), real servers
#   tests/run.sh servers  every server that `make servers` got: the matrix, drawn shapes, and the
#                         model's blocks beside those that a witness in the server counts; files of
#                         5 GB; the real YCSB's load beside tare's
#   tests/run.sh ycsb     the last of these alone
# Every test program prints TAP ("ok 1 - name"); a program that dies or prints nothing counts as
# one failure.
set -u
cd "$(dirname "$0")/.."
suite=${1:-quick}
passed=0 failed=0 skipped=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tare-tests-XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# run NAME COMMAND...: runs a test program, shows what failed, counts its TAP lines
run() {
  local name=$1; shift
  local log=$scratch/log status ok bad skip
  "$@" >"$log" 2>&1 </dev/null
  status=$?
  ok=$(grep -c '^ok ' "$log"); bad=$(grep -c '^not ok ' "$log")
  skip=$(grep -c '^ok .*# SKIP' "$log")
  ok=$((ok - skip))
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  if [ $((ok + bad + skip)) -eq 0 ]; then bad=1; fi
  passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
  if [ "$bad" -gt 0 ]; then
    printf 'FAILED %s (%d passed, %d failed, exit %d)\n' "$name" "$ok" "$bad" "$status"
    sed 's/^/    /' "$log" | tail -n 80
  else
    printf 'passed %s (%d%s)\n' "$name" "$ok" "$([ "$skip" -gt 0 ] && echo ", $skip skipped")"
    grep '# SKIP' "$log" | sed 's/^/    /'
  fi
}

build() {
  if ! make --no-print-directory -j"$(nproc)" "$@" >"$scratch/build" 2>&1; then
    tail -n 40 "$scratch/build"
    echo "FAILED build: make $*"
    failed=$((failed + 1))
  fi
}

quick() {
  build all units server-units
  build SANITIZE=1 all units
  for variant in objects sanitize; do
    for test in build/$variant/tests/unit/test_*; do
      case $test in *.d) continue ;; esac
      run "$test" "$test"
    done
  done
  run "command line" python3 tests/cli/run.py ./tare
  run "command line, sanitizers" python3 tests/cli/run.py build/sanitize/tare
  run "other decoders" "$(./setup.sh python)" tests/decoders/decoders.py ./tare
  for test in build/objects/tests/servers/test_*; do
    case $test in *.d) continue ;; esac
    [ -x "$test" ] && run "$test" "$test"
  done
  run "real servers" python3 tests/servers/quick.py ./tare
  run "large files" python3 tests/servers/large_file.py ./tare 0.1
}

servers() {
  build all
  run "server matrix" python3 tests/servers/matrix.py ./tare
  run "properties" python3 tests/servers/property.py ./tare --shapes 40
  run "large files" python3 tests/servers/large_file.py ./tare
  run "witness" python3 tests/witness/compare.py ./tare
  run "the real YCSB" python3 tests/ycsb/compare.py ./tare
}

ycsb() {
  build all
  run "the real YCSB" python3 tests/ycsb/compare.py ./tare
}

case $suite in
quick) quick ;;
servers) servers ;;
ycsb) ycsb ;;
*) echo "usage: tests/run.sh quick|servers|ycsb" >&2; exit 1 ;;
esac
if [ "$skipped" -gt 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
