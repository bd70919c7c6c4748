"""What tracing costs real programs: each plain workload bare, with the agent off, and with it on.

Each variant runs in fresh JVMs, in turn; of each run the later half of the iterations counts (the first ones
load and compile classes), by process CPU time and by wall time. `on` traces everything that is not trivial,
without any bound on its cost: where the project stands before it chooses what to trace.
"""

import re
import sys

from common import JARS, Run, java, jdks, median, option

WORKLOADS = ["h2", "lucene-index", "lucene-search", "xalan", "jackson", "javac", "ecj", "pmd"]
MODES = {"bare": None, "off": "tracing=off,quiet=on", "on": "quiet=on"}


def iterations(executable, workload, agent, count, size):
    options = ["-cp", JARS, "dev.lookback.workloads.Main", workload, "--cpu"]
    out = java(executable, [*options, "--iterations", str(count), "--size", size], agent)
    rows = re.findall(r"iteration \d+ \S+ (\S+) ms cpu (\S+) ms", out)
    later = rows[len(rows) // 2 :]
    return median([float(w) for w, _ in later]), median([float(c) for _, c in later])


def main():
    smoke = "--smoke" in sys.argv
    rounds, count, size = (1, 2, "small") if smoke else (option("--rounds", 3), 6, "default")
    run = Run("workloads")
    chosen = {"jdk17": jdks().get("jdk17")} if "--one-jdk" in sys.argv or smoke else jdks()
    for jdk, executable in chosen.items():
        for workload in WORKLOADS[:2] if smoke else WORKLOADS:
            wall, cpu = ({mode: [] for mode in MODES} for _ in range(2))
            for _ in range(rounds):
                for mode, agent in MODES.items():
                    w, c = iterations(executable, workload, agent, count, size)
                    wall[mode].append(w)
                    cpu[mode].append(c)
            for mode in MODES:
                run.note(f"raw {jdk} {workload} {mode} wall ms: {wall[mode]} cpu ms: {cpu[mode]}")
            for mode in ("off", "on"):
                for kind, values in (("", cpu), (".wall", wall)):
                    ratio = median([a / b for a, b in zip(values[mode], values["bare"])])
                    run.result(f"workload.{workload}.{mode}{kind}.pct.{jdk}", (ratio - 1) * 100, "%")
    run.close()


main()
