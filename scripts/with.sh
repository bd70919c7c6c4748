#!/usr/bin/env bash
# Runs a command with the JDKs, the Node and the browser that were found: scripts/with.sh COMMAND...
#
# Constraint: every step of the Makefile goes through here, so that each can be run alone. A missing tool is
# named before the command fails in its own words.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
use_tools
missing=$(missing_for_build | tr '\n' ' ')
[ -z "$missing" ] || fail "missing or too old: ${missing% }; run: make setup"
exec "$@"
