#!/usr/bin/env bash
# Runs one step quietly: scripts/step.sh 'what it does' COMMAND...
#
# One line when it succeeds, the command's whole output when it fails. V=1 shows the output in any case. On
# a terminal the seconds count while it runs.
set -euo pipefail
what=$1
shift
if [ "${V:-}" = 1 ]; then exec "$@"; fi
log=$(mktemp)
ticker=
cleanup() {
  if [ -n "$ticker" ]; then kill "$ticker" 2>/dev/null || true; printf '\r\033[K' >&2; fi
  rm -f "$log"
}
trap cleanup EXIT
start=$SECONDS
if [ -t 2 ] && [ -z "${CI:-}" ]; then
  { while printf '\r%s ... %d s' "$what" "$((SECONDS - start))" >&2; do sleep 1; done; } &
  ticker=$!
fi
status=0
"$@" >"$log" 2>&1 </dev/null || status=$?
if [ -n "$ticker" ]; then kill "$ticker" 2>/dev/null || true; wait "$ticker" 2>/dev/null || true; ticker=; printf '\r\033[K' >&2; fi
took=$((SECONDS - start))
if [ "$status" -ne 0 ]; then
  cat "$log" >&2
  printf '%s: failed with exit code %d after %d s\n' "$what" "$status" "$took" >&2
  exit "$status"
fi
if [ "$took" -ge 2 ]; then printf '%s: %d s\n' "$what" "$took"; fi
