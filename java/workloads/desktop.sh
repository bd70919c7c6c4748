#!/usr/bin/env bash
# Runs the desktop application on a display of its own, with the controller that uses it:
#   desktop.sh [--harness-socket PATH] [--patience SECONDS] -- java [JVM OPTIONS] dev.lookback.workloads.desktop.Main ...
#
# Constraint: the application is started by its own command line, with this in front of it, and is nobody's parent:
# counters of a process that include its children would count the display too. Its exit code is ours. The kernel ends
# all that was started when this script ends, however it ends (PR_SET_PDEATHSIG), so nothing is left behind.
# Must not write anything but the application's output to standard output.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() { echo "desktop.sh: $*" >&2; exit 1; }

controls=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do controls+=("$1"); shift; done
if [ $# -lt 2 ]; then
  echo 'desktop.sh [--harness-socket PATH] -- java [JVM OPTIONS] dev.lookback.workloads.desktop.Main [OPTIONS]' >&2
  exit 2
fi
shift
java=$1
# Tests name the classes that they have just compiled.
classes=${DESKTOP_CLASS_PATH:-$here/target/lookback-workloads.jar}
[ -n "${DESKTOP_CLASS_PATH:-}" ] || [ -f "$classes" ] || fail "$classes is missing: build it with mvn -f $here/pom.xml package"
command -v Xvfb >/dev/null || fail 'Xvfb is missing: install the package xvfb'
command -v setpriv >/dev/null || fail 'setpriv is missing: install the package util-linux, 2.33 or newer'
bound=(setpriv --pdeathsig KILL --)

pids=()
finish() {
  trap - EXIT TERM INT HUP
  [ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
}
trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
trap 'exit 129' HUP

# It takes a free display, and tells which once it can be used. -r: no key repeats, however long the controller has to
# wait for a core between pressing and releasing it.
exec {told}< <(exec "${bound[@]}" Xvfb -displayfd 1 -screen 0 1280x800x24 -nolisten tcp -noreset -r 2>/dev/null)
pids+=($!)
read -r -u "$told" display || fail 'Xvfb has not started; to see why: Xvfb -displayfd 1 -screen 0 1280x800x24'
exec {told}<&-

# The controller's own JVM is as small as may be: it runs on the cores of what is measured. It starts the application.
DISPLAY=:$display "${bound[@]}" "$java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx32m -cp "$classes" \
  dev.lookback.workloads.desktop.Controller ${controls[@]+"${controls[@]}"} -- "${bound[@]}" "$@" </dev/null &
pids+=($!)
code=0
wait "${pids[1]}" || code=$?
exit "$code"
