#!/usr/bin/env bash
# Runs the tests: scripts/test.sh [PART...]; all parts without an argument.
#
# One line a part when it passes, its whole output when it fails; the last line is `N passed, N failed`. All parts
# together run on two lanes, since most of a part waits for one compiler or one browser, but for the end-to-end tests,
# which come last and alone: they have deadlines.
# Constraint: a part that fails does not keep the others from running, and a part that ends badly without
# naming a failed test counts as one failed. Must not build anything that `make build` has not.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
use_tools
cd "$root"
lane_rust=(rust)
# Perfetto last: it is built where `rust` is, and would wait for it.
lane_others=(web java ring-models ring-races perfetto)
parts=("${lane_rust[@]}" "${lane_others[@]}" e2e)
logs=$target/test
mkdir -p "$logs"

part_rust() { cargo test --workspace --exclude lookback-e2e --no-fail-fast; }

# The models of ring, recorder and sampler run on other atomics, so they have a target directory of their own.
part_ring-models() {
  RUSTFLAGS='--cfg loom' CARGO_TARGET_DIR=$target/loom CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=0 \
    cargo test -p lookback-ring -p lookback-recorder -p lookback-agent --release --test loom --no-fail-fast
}

# The real threads under ThreadSanitizer. It is an unstable option of the stable compiler; the standard library comes
# without it, hence the suppressions.
part_ring-races() {
  local target_triple
  target_triple=$(rustc -vV | sed -n 's/^host: //p')
  RUSTC_BOOTSTRAP=1 RUSTFLAGS='-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer' \
    TSAN_OPTIONS="suppressions=$root/crates/lookback-ring/tests/thread-sanitizer.supp" CARGO_TARGET_DIR=$target/races \
    cargo test -p lookback-ring --target "$target_triple" --lib -- threads:: followed::several resized::producers stalled::
}

part_web() { npm --prefix web run test; }

part_java() {
  mvn -B -f java/api/pom.xml test
  mvn -B -f java/harness/pom.xml test
  mvn -B -f java/probe/pom.xml test
  mvn -B -f java/workloads/pom.xml test
}

part_perfetto() {
  local traces=$target/test/convoy
  cargo run --quiet -p lookback-analysis --example convoy -- "$traces"
  [ -d tests/perfetto/node_modules/playwright-core ] || npm --prefix tests/perfetto ci --no-audit --no-fund
  node tests/perfetto/run.mjs "$traces"
}

part_e2e() {
  LOOKBACK_AGENT=$target/release/liblookback.so LOOKBACK_BIN=$target/release/lookback \
    LOOKBACK_HARNESS=$target/release/liblookback_harness.so cargo test -p lookback-e2e --no-fail-fast
}

# passed FAILED of a part, from what cargo, Node's runner or Maven say; one test when none of them speaks.
count() {
  awk -v status="$2" '
    /^test result: / { for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) passed += $(i - 1); if ($i ~ /^failed/) failed += $(i - 1) }; told = 1 }
    /^(#|ℹ) pass [0-9]+$/ { passed += $3; told = 1 }
    /^(#|ℹ) (fail|cancelled) [0-9]+$/ { failed += $3; told = 1 }
    /Tests run: [0-9]+, Failures: / && !/Time elapsed/ {
      line = $0; gsub(/[^0-9]+/, " ", line); split(line, n, " ")
      java_passed += n[1] - n[2] - n[3] - n[4]; java_failed += n[2] + n[3]; told = 1
    }
    END {
      passed += java_passed; failed += java_failed
      if (status != 0 && failed == 0) failed = 1
      if (status == 0 && !told) passed = 1
      print passed + 0, failed + 0
    }' "$1"
}

jdk25=$(jdk_home 25)
warning=
if [ -z "$jdk25" ]; then
  warning='WARNING: no JDK 25 was found, so NOTHING WAS TESTED ON JDK 25; run `make setup`, or set JAVA_HOME_25'
  export LOOKBACK_ONE_JDK=1
elif ! has_compiler "$jdk25"; then
  warning="note: the Java 25 in use ($jdk25) has no compiler; set JAVA_HOME_25 to a JDK to test the class file rewriter against its classes too"
fi
[ -z "$warning" ] || say "$warning"

# run_parts PART... one after the other; each leaves PASSED FAILED in its .count.
run_parts() {
  local part log start status passed failed
  for part in "$@"; do
    log=$logs/$part.log
    start=$SECONDS
    # A subshell of its own, so that `set -e` holds inside the part.
    set +e
    ( set -e; "part_$part" ) >"$log" 2>&1 </dev/null
    status=$?
    set -e
    count "$log" "$status" >"$logs/$part.count"
    if [ "$status" -ne 0 ] || [ "${V:-}" = 1 ]; then cat "$log"; fi
    read -r passed failed <"$logs/$part.count"
    printf 'test %-12s %4d passed, %d failed, %d s\n' "$part" "$passed" "$failed" "$((SECONDS - start))"
  done
}

for part in "$@"; do
  declare -F "part_$part" >/dev/null || fail "there is no part '$part'; the parts are: ${parts[*]}"
done
rm -f "$logs"/*.count
if [ $# -gt 0 ]; then
  parts=("$@")
  run_parts "${parts[@]}"
else
  # What runs in the background does not hear Ctrl-C.
  trap 'kill 0' INT
  run_parts "${lane_rust[@]}" &
  rust=$!
  run_parts "${lane_others[@]}"
  wait "$rust"
  run_parts e2e
fi
total_passed=0
total_failed=0
for part in "${parts[@]}"; do
  read -r passed failed <"$logs/$part.count"
  total_passed=$((total_passed + passed))
  total_failed=$((total_failed + failed))
done
[ -z "$warning" ] || say "$warning"
printf '%d passed, %d failed\n' "$total_passed" "$total_failed"
[ "$total_failed" -eq 0 ]
