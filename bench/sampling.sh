#!/usr/bin/env bash
# What sampling costs, how long a request takes, and how alike the profiles of the engines are: the thesis' figures 5.1 to 5.9
# (Linz 2014) on today's HotSpot. --smoke makes it short.
#
# The engines of the extended VM take part where it is built (`make vm`). Each program runs in one JVM while one engine after
# the other samples it, twice, so that all see the same compiled code. What programs pay is the experiments sampling-10ms, sampling and
# sampling-100us: hours, and the same command goes on where it stopped.
# Constraint: prints `result` lines and keeps nothing beside lab-results.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
use_tools
cd "$root"
python3 -m doctest bench/sampling.py
workloads=(h2 hibernate tomcat activemq lucene-search xalan jackson javac pmd saxon rhino akka threads)
intervals=(10ms 1ms 100us) time=10s warm=15
if [ "${1:-}" = --smoke ]; then
  workloads=(xalan) intervals=(1ms) time=1s warm=2
fi
lookback=$target/release/lookback
[ -x "$lookback" ] || fail "$lookback is missing: run \`make build\`"
directory=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$directory"' EXIT
manifest=$directory/manifest

# sample WORKLOAD ENGINE INTERVAL: two profiles of the program that runs.
sample() {
  local workload=$1 engine=$2 interval=$3 repetition file
  [ "$engine" != poll ] || "$lookback" start "$pid" >/dev/null
  for repetition in 1 2; do
    file=$directory/$workload-$engine-$interval-$repetition
    "$lookback" profile "$pid" -d "$time" -i "$interval" --engine "$engine" -o "$file.lkb" 2>/dev/null
    "$lookback" convert "$file.lkb" --running -o "$file.collapsed" 2>/dev/null
    "$lookback" info --json "$file.lkb" >"$file.json"
    printf '%s\t%s\t%s\t%s\t%s\n' "$workload" "$engine" "$repetition" "$file.collapsed" "$file.json" >>"$manifest"
    rm "$file.lkb"
  done
  [ "$engine" != poll ] || "$lookback" stop "$pid" >/dev/null
}

# session JAVA WORKLOAD ENGINE... : the program, sampled by these engines one after the other.
session() {
  local java=$1 workload=$2 engine interval options=()
  shift 2
  case $java in "$target"*) options=(-XX:+LookbackSampling) ;; esac
  say "sampling $workload: $*"
  "$java" "${options[@]}" -XX:+UseG1GC -Xmx768m "-agentpath:$target/release/liblookback.so=tracing=off,quiet=on,ring=16m" \
    -cp "java/workloads/target/lookback-workloads.jar:java/workloads/target/lib/*" dev.lookback.workloads.Main "$workload" \
    --iterations 100000 >"$directory/out" 2>&1 &
  pid=$!
  sleep "$warm"
  for engine; do
    for interval in "${intervals[@]}"; do
      # It samples once a tick at the most.
      [ "$engine-$interval" = poll-100us ] || sample "$workload" "$engine" "$interval"
    done
  done
  kill "$pid"
  wait "$pid" 2>/dev/null || true
  pid=
}

extended=$target/vm/jdk-release/bin/java
for workload in "${workloads[@]}"; do
  session "$(jdk_home 17)/bin/java" "$workload" safepoint handshake signal poll
  [ ! -x "$extended" ] || session "$extended" "$workload" incremental partial partial-incremental incremental-signal
done
python3 bench/sampling.py "$manifest"
[ "${1:-}" = --smoke ] || for name in sampling-10ms sampling sampling-100us; do bench/experiment.sh "$name"; done
