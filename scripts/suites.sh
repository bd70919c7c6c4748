#!/usr/bin/env bash
# Runs the published test suites of well-known libraries without the agent and with it, and compares each test:
# scripts/suites.sh [JDK:SUITE...], as in 17:commons-io; all of `default_suites` without an argument.
#
# One line a suite, and below it each test that came out differently; fails when there is one. A suite runs twice
# without the agent, to know which tests change by themselves, once with the agent as it comes and once with everything
# traced; a kind in which something differs runs once more. JOBS suites run at once, as many as there are cores: most
# of them sleep much.
# Constraint: every run has a directory of its own, laid out as the suite's own build has it, so that nothing is left
# from one run to the next. Must not build the agent.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
use_tools
cd "$root"

default_suites=(17:commons-lang3 17:commons-collections4 17:commons-io 17:commons-codec 17:netty-common
  25:commons-lang3)
# A run that takes longer than this hangs: the longest, of netty-common, takes 6 minutes on two busy cores.
limit=${SUITE_SECONDS:-1200}
agent=$target/release/liblookback.so
fetched=$target/suites/fetched
runs=$target/suites/runs

# What these suites' own builds open for their tests, taken together.
opened=(java.io java.lang java.lang.invoke java.lang.reflect java.net java.nio java.text java.time java.time.chrono
  java.util java.util.concurrent java.util.regex sun.nio.fs)

fetch() {
  if ! cmp -s tests/suites/pom.xml "$fetched/pom.xml"; then
    rm -rf "$fetched"
    mvn -q -B -Dstyle.color=never -f tests/suites/pom.xml package "-Dfetched=$fetched"
    cp tests/suites/pom.xml "$fetched/pom.xml"
  fi
}

# The agent's options by kind of run.
declare -A kinds=([bare]='' [default]='quiet=on' [all]='quiet=on,budget=off,trivial=0')

# run JAVA SUITE DIRECTORY KIND NUMBER: leaves DIRECTORY/KIND-NUMBER with its reports, and how many seconds it took.
run() {
  local java=$1 suite=$2 at=$3/$4-$5 options=${kinds[$4]} classes=$fetched/suites/$2 start=$SECONDS status=0 package
  local vm=(-Xmx1g -Duser.language=en -Duser.country=US -Duser.timezone=UTC "-Djava.io.tmpdir=$at/tmp")
  for package in "${opened[@]}"; do vm+=(--add-opens "java.base/$package=ALL-UNNAMED"); done
  [ -z "$options" ] || vm+=("-agentpath:$agent=$options,region=$at/region,keep=on,learned=$at/profile")
  rm -rf "$at"
  mkdir -p "$at/tmp" "$at/src/test" "$at/target"
  ln -s "$classes" "$at/src/test/resources"
  ln -s "$classes" "$at/target/test-classes"
  # Classes within test classes are run by those, where they are meant to be run.
  env -C "$at" timeout -k 10 "$limit" "$java/bin/java" "${vm[@]}" -cp "$classes:$fetched/lib/*" \
    org.junit.platform.console.ConsoleLauncher execute "--scan-class-path=$classes" \
    '--include-classname=^[^$]*Test[^$]*$' "--reports-dir=$at/reports" --details=none --disable-banner \
    >"$at/out" 2>"$at/err" </dev/null || status=$?
  # 1: some tests have failed.
  if [ "$status" -gt 1 ] || [ ! -d "$at/reports" ]; then
    echo "$suite ended with exit code $status; its output is in $at" >&2
    return 1
  fi
  # The file shows that the agent recorded; it is not looked at.
  if [ -n "$options" ] && [ ! -s "$at/region" ]; then
    echo "$suite ran without the agent, which was to record: see $at" >&2
    return 1
  fi
  rm -rf "$at/region" "$at/tmp"
  echo $((SECONDS - start)) >"$at/seconds"
}

# suite JDK:NAME: its runs and the comparison.
suite() {
  local jdk=${1%%:*} name=${1#*:} home at said kind
  home=$(jdk_home "$jdk")
  [ -n "$home" ] || { echo "there is no JDK $jdk: NOTHING WAS TESTED ON IT; run make setup"; return 1; }
  [ -d "$fetched/suites/$name" ] || { echo "there is no suite '$name' in tests/suites/pom.xml"; return 1; }
  at=$runs/$jdk-$name
  rm -rf "$at"
  run "$home" "$name" "$at" bare 1 && run "$home" "$name" "$at" bare 2 || return 1
  said=("bare=$at/bare-1/reports" "bare=$at/bare-2/reports")
  for kind in default all; do
    run "$home" "$name" "$at" "$kind" 1 || return 1
    if ! compare "$home" "$name" "${said[@]}" "$kind=$at/$kind-1/reports" >/dev/null; then
      run "$home" "$name" "$at" "$kind" 2 || return 1
      said+=("$kind=$at/$kind-2/reports")
    fi
    said+=("$kind=$at/$kind-1/reports")
  done
  compare "$home" "$name on JDK $jdk, $(<"$at/bare-1/seconds") s without, $(<"$at/default-1/seconds") s with, $(<"$at/all-1/seconds") s all traced" "${said[@]}"
}

compare() { "$1/bin/java" tests/suites/Compare.java "${@:2}"; }

[ -f "$agent" ] || fail "$agent is not there; run: make build"
suites=("$@")
[ $# -gt 0 ] || suites=("${default_suites[@]}")
fetch
failed=0
jobs=${JOBS:-$(nproc)}
running=0
for one in "${suites[@]}"; do
  if [ "$running" -ge "$jobs" ]; then wait -n || failed=$((failed + 1)); running=$((running - 1)); fi
  { told=$(suite "$one" 2>&1) && status=0 || status=$?; printf '%s\n' "$told"; exit "$status"; } &
  running=$((running + 1))
done
while [ "$running" -gt 0 ]; do wait -n || failed=$((failed + 1)); running=$((running - 1)); done
printf '%d suites the same, %d not\n' "$((${#suites[@]} - failed))" "$failed"
[ "$failed" -eq 0 ]
