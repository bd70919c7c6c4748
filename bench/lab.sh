#!/usr/bin/env bash
# Whether the lab itself tells the truth: `lookback lab self-check`, which prints `result self-check.CHECK.NAME VALUE UNIT`.
# --smoke makes it short, and keeps nothing. Other arguments are the command's own.
#
# Constraint: needs the harness and the workloads (`make build`); the whole check wants a quiet machine.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
use_tools
cd "$root"
lookback=$target/release/lookback
[ -x "$lookback" ] || fail "$lookback is missing: run \`make build\`"
export LOOKBACK_HARNESS=${LOOKBACK_HARNESS:-$target/release/liblookback_harness.so}
if [ "${1:-}" = --smoke ]; then
  shift
  directory=$(mktemp -d)
  trap 'rm -rf "$directory"' EXIT
  "$lookback" lab self-check --quick --out "$directory" "$@"
else
  "$lookback" lab self-check "$@"
fi
