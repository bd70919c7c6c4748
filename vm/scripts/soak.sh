#!/usr/bin/env bash
# Samples the workloads at 0.1 ms by each engine of the extended VM in turn: soak.sh JDK MINUTES
#
# JDK is one that build.sh has laid out; the agent, the command and the workloads are the project's (`make build`). Methods are
# traced by the VM's trace points meanwhile.
# Constraint: fails when a program ends, when the VM leaves an error file, and when an engine has found nothing.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
use_tools
jdk=$(realpath "${1:?name a JDK}") minutes=${2:?say for how many minutes}
lookback=$target/release/lookback
[ -x "$lookback" ] || fail "$lookback is missing: run \`make build\`"
workloads=(h2 hibernate tomcat activemq lucene-search xalan jackson javac pmd saxon rhino akka threads)
engines=(partial-incremental partial incremental incremental-signal)
seconds=$((minutes * 60 / ${#workloads[@]} / ${#engines[@]}))
[ "$seconds" -gt 0 ] || seconds=1
directory=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$directory"' EXIT
total=0
for workload in "${workloads[@]}"; do
  "$jdk/bin/java" -XX:+LookbackSampling -XX:+LookbackTracing -Xmx768m -XX:ErrorFile="$directory/error.log" \
    "-agentpath:$target/release/liblookback.so=quiet=on,learned=off,region=$directory/region" \
    -cp "$root/java/workloads/target/lookback-workloads.jar:$root/java/workloads/target/lib/*" dev.lookback.workloads.Main \
    "$workload" --iterations 1000000 >"$directory/out" 2>&1 &
  pid=$!
  # Until it can be asked.
  for ((i = 0; i < 100; i++)); do ! "$lookback" status "$pid" >/dev/null 2>&1 || break; sleep 0.2; done
  for engine in "${engines[@]}"; do
    "$lookback" profile "$pid" -d "${seconds}s" -i 100us --engine "$engine" -o "$directory/profile.lkb" --force 2>"$directory/said" \
      || { cat "$directory/said" "$directory/out" "$directory/error.log" 2>/dev/null; fail "$workload, $engine"; }
    samples=$("$lookback" info --json "$directory/profile.lkb" | python3 -c 'import json, sys; print(json.load(sys.stdin)["manifest"]["sampling"]["samples"])')
    [ "$samples" -gt 0 ] || fail "$workload: $engine found nothing"
    printf '%-14s %-20s %9d samples in %d s\n' "$workload" "$engine" "$samples" "$seconds"
    total=$((total + samples))
  done
  kill "$pid"
  status=0
  wait "$pid" || status=$?
  pid=
  if [ "$status" != 143 ] || [ -e "$directory/error.log" ]; then
    tail -20 "$directory/out"
    fail "$workload ended with $status"
  fi
  rm -f "$directory/region"
done
echo "sampled ${#workloads[@]} programs at 0.1 ms for $((seconds * ${#workloads[@]} * ${#engines[@]})) s: $total samples, no crash"
