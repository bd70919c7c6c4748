"""What the ring, models of others, and others themselves keep of the same traces, in the same memory, in one run.

The ring and the models are replayed by the Rust benchmark `replay`, which says what its figures mean. LTTng-UST and
ftrace are programs: they are given the same traces, event by event, with as many virtual cores, and what comes back is
judged by that benchmark too. One thread writes all, in logical time, so the figures do not depend on the machine.
Table and figures as in the paper ("Enabling Efficient Mobile Tracing with BTrace", ASPLOS 2025: table 2, figures 1
and 10) are written beside the raw data.
"""

import pathlib
import sys
import tempfile

import retention
import tracers
from common import Run

MEMORY = 12 << 20
REPLAY = ["cargo", "bench", "--quiet", "-p", "lookback-ring", "--features", "stalls", "--bench", "replay", "--"]


def cores(events):
    """The number of cores of an exported trace."""
    return max(memoryview(events.read_bytes()).cast("H")[::4]) + 1


def peers(run, folder):
    """Writes what the real tracers keep of each exported trace into the folder."""
    kinds = []
    for missing, kind in ((tracers.lttng_missing, "lttng"), (tracers.ftrace_missing, "ftrace")):
        why = missing()
        if why:
            run.note(f"# {why}")
        else:
            kinds.append(kind)
    if "lttng" in kinds:
        program = tracers.build(folder, "lttng_replay", "-rdynamic", "-llttng-ust", "-ldl")
        plugin = tracers.build(folder, "lttng_core", "-shared", "-fPIC", "-llttng-ust")
    if "ftrace" in kinds:
        marker = tracers.build(folder, "ftrace_replay")
    for events in sorted(folder.glob("*.events")):
        for kind in kinds:
            if kind == "lttng":
                memory, kept = tracers.lttng_replay(events, cores(events), MEMORY, (program, plugin))
            else:
                memory, kept = tracers.ftrace_replay(events, cores(events), MEMORY, marker)
            tracers.write_kept(folder / f"{events.stem}.{kind}.kept", memory, kept)
    return kinds


def main():
    smoke = ["--smoke"] if "--smoke" in sys.argv else []
    run = Run("replay", needs=())
    lines = run.follow([*REPLAY, *smoke])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run.follow([*REPLAY, *smoke, "--export", name])
        if peers(run, folder):
            lines += run.follow([*REPLAY, *smoke, "--judge", name])
    for name, text in retention.files(lines).items():
        run.keep(name, text)
    run.close()


main()
