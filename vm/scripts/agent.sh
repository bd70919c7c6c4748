#!/usr/bin/env bash
# Runs the end-to-end tests of tracing and sampling on the extended VM: agent.sh JDK [TEST...]
#
# JDK is one that build.sh has laid out; the agent and the command are the project's (`make build`). Without tests: the groups that
# touch trace points or samples.
# Constraint: no other JDK is tested here, and nothing is inlined but where a test says so: what is inlined is not recorded.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
use_tools
jdk=$(realpath "${1:?name a JDK}")
shift
tests=("$@")
[ $# -gt 0 ] || tests=(api:: attach:: brake:: call_tree:: detach:: detector:: exits:: governor:: killed:: platform_threads:: sampling::)
cd "$root"
JAVA_HOME_17=$jdk LOOKBACK_JDKS=17 LOOKBACK_AGENT=$target/release/liblookback.so LOOKBACK_BIN=$target/release/lookback \
  LOOKBACK_HARNESS=$target/release/liblookback_harness.so cargo test -q -p lookback-e2e -- "${tests[@]}"
