#!/usr/bin/env bash
# Rehearsal of Lookback at a later start: puts what so many starts in a row have learned into FILE:
#   overhead-learned.sh STARTS KEPT FILE COMMAND...
#
# COMMAND is the invocation's own, whose agent has `learned=FILE`. The starts are made once for a program, a JDK and a build of
# the agent; what they learned is kept in the directory KEPT, so that all invocations begin with the same.
# Constraint: what is kept is never that of a start which failed.
set -euo pipefail
starts=$1 kept=$2 file=$3 directory=$(dirname "$3")
shift 3
agent=$(printf '%s\n' "$@" | sed -n 's/^-agentpath:\([^=]*\)=learned=.*/\1/p')
[ -n "$agent" ] || { echo "no agent is in the command: $*" >&2; exit 2; }
# The directory is another one in each invocation.
key=$({ printf '%s\n' "$starts" "${@//$directory/DIRECTORY}"; cat "$agent"; } | sha256sum | cut -c 1-16)
mkdir -p "$kept"
if [ ! -f "$kept/$key" ]; then
  rm -f "$file"
  for ((i = 0; i < starts; i++)); do "$@"; done
  # A program that costs less than its budget has learned nothing.
  touch "$file"
  cp "$file" "$kept/$key.$$"
  mv "$kept/$key.$$" "$kept/$key"
fi
cp "$kept/$key" "$file"
