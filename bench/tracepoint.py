"""The cost of one trace point: Hubble's Listing 1 (section 8.1) with work 0, 1, 10, 100, 1000.

A call has two trace points, so the cost of one is half of what a call with work 0 takes longer. "physical"
keeps the JIT from inlining the recursion, as the paper wanted it ("to prevent the method from being
inlined"), so that each call is a call; "inlined" leaves the JIT alone. "nanotime" is the same method with
System.nanoTime() at both ends.

Variants run in turn, each time in a fresh JVM; --jvms N sets how many of each (11), --zero leaves out all work but
0. On a shared machine the same machine code runs for seconds at half its speed, when a neighbour uses the other
half of the processor's core, and never runs faster than alone. So a JVM's figure is the least of its rounds, and a
variant's the lower quartile of its JVMs. "busy" is the same by the upper quartiles: what neighbours make of it.
"""

import re
import sys

from common import JARS, Run, java, jdks, option, quartile

TRACE = "trace=dev.lookback.workloads.tracepoint.Listing1,budget=off,trivial=0,waits=off,quiet=on"
PHYSICAL = [
    "-XX:CompileCommand=quiet",
    "-XX:CompileCommand=dontinline,dev.lookback.workloads.tracepoint.Listing1*::test",
]
MODES = {"bare": None, "off": TRACE + ",tracing=off", "on": TRACE}


def call_ns(executable, flags, agent, work, variant="plain"):
    options = [*flags, "-cp", JARS, "dev.lookback.workloads.TracePointBench"]
    out = java(executable, [*options, "--work", str(work), "--variant", variant, "--rounds", "6"], agent)
    return float(re.search(r"summary work \d+ variant \S+ median \S+ min (\S+)", out).group(1))


def main():
    smoke = "--smoke" in sys.argv
    jvms = 1 if smoke else option("--jvms", 11)
    run = Run("tracepoint")
    for jdk, executable in jdks().items():
        for shape, flags in (("", PHYSICAL), (".inlined", [])):
            calls = {mode: [] for mode in MODES}
            for _ in range(jvms):
                for mode, agent in MODES.items():
                    calls[mode].append(call_ns(executable, flags, agent, 0))
            for mode, values in calls.items():
                run.note(f"raw {jdk}{shape} work 0 {mode} ns a call: " + " ".join(f"{v:.4f}" for v in values))
            for mode in ("on", "off"):
                for name, which in ((mode, 1), (f"{mode}.busy", 3)):
                    added = quartile(calls[mode], which) - quartile(calls["bare"], which)
                    run.result(f"tracepoint.{name}{shape}.{jdk}", added / 2, "ns")
        base = quartile(calls["bare"], 1)
        nano = [call_ns(executable, [], None, 0, "nanotime") for _ in range(1 if smoke else 3)]
        run.note(f"raw {jdk} work 0 nanotime ns a call: " + " ".join(f"{v:.4f}" for v in nano))
        run.result(f"tracepoint.nanotime.{jdk}", (min(nano) - base) / 2, "ns")
        for work in (() if smoke or "--zero" in sys.argv else (1, 10, 100, 1000)):
            turns = [[call_ns(executable, PHYSICAL, MODES[m], work) for m in MODES] for _ in range(3)]
            bare, off, on = (min(values) for values in zip(*turns))
            run.note(f"raw {jdk} work {work} ns a call: bare {bare:.4f} off {off:.4f} on {on:.4f}")
            run.result(f"tracepoint.work{work}.on.pct.{jdk}", (on / bare - 1) * 100, "%")
            run.result(f"tracepoint.work{work}.off.pct.{jdk}", (off / bare - 1) * 100, "%")
    run.close()


main()
