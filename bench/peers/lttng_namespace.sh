#!/usr/bin/env bash
# Records a program with an LTTng session of its own and prints the events:
# lttng_namespace.sh CORES CHANNEL... -- PROGRAM...
#
# Must be run as the first process of new mount and process namespaces (unshare -m -p -f --mount-proc --kill-child),
# as root: the session daemon, its sockets, its shared memory and the number of processors that LTTng sees (CORES;
# 0 leaves it) then exist for it and its children only, and end with it. Writes the program's output to standard error.
# With READ=no nothing is read back. CHANNEL are options of `lttng enable-channel`. Must not touch a session of the
# machine.
set -euo pipefail
cores=$1
shift
channel=()
while [ "$1" != -- ]; do channel+=("$1"); shift; done
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /dev/shm
if [ "$cores" -gt 0 ]; then
  printf '0-%d\n' "$((cores - 1))" >"$work/possible"
  mount --bind "$work/possible" /sys/devices/system/cpu/possible
fi
export LTTNG_HOME=$work LTTNG_UST_REGISTER_TIMEOUT=-1
{
  lttng-sessiond --daemonize --no-kernel
  lttng create lookback --snapshot --output="$work/trace"
  lttng enable-channel --userspace --overwrite "${channel[@]}" events
  lttng enable-event --userspace 'lookback:*' --channel=events
  lttng start
  "$@"
  lttng stop
} >&2
if [ "${READ:-yes}" = yes ]; then
  lttng snapshot record >&2
  babeltrace2 "$work/trace"
fi
