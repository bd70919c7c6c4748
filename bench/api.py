"""The cost of one event of the Java API: half a span, or an instant, in bursts (see programs/ApiBench.java).

"agent" records into the agent's memory, and nothing else is traced. "none" is a program that nobody records.
"nanotime" is what reading the clock costs alone, which every event contains.

Variants run in turn, each time in a fresh JVM; --jvms N sets how many of each (7). A JVM's figure is the least of
its rounds, without those in which compiled code is not there yet, and a variant's the median of its JVMs.
"""

import re
import subprocess
import sys
import tempfile

from common import ROOT, Run, java, jdks, median, option

API = ROOT / "java" / "api" / "target" / "lookback-api.jar"
SINKS = {"none": None, "agent": "trace=nothing.**,quiet=on"}


def compiled(directory, executables):
    """Compiles the program with the first JDK that has a compiler; gives the class path."""
    javacs = [executable + "c" for executable in executables]
    for javac in javacs:
        try:
            source = ROOT / "bench" / "programs" / "ApiBench.java"
            subprocess.run([javac, "--release", "17", "-cp", API, "-d", directory, source], check=True)
            return f"{directory}:{API}"
        except FileNotFoundError:
            pass
    sys.exit(f"none of {', '.join(javacs)} is there")


def figures(executable, class_path, agent, rounds):
    """Nanoseconds an event, by its kind: the least of the later rounds."""
    out = java(executable, ["-cp", class_path, "ApiBench", str(rounds)], agent)
    found = {}
    for kind, value in re.findall(r"^(\w+) (-?[\d.]+)$", out, re.MULTILINE):
        found.setdefault(kind, []).append(float(value))
    return {kind: min(values[len(values) // 2 :]) for kind, values in found.items()}


def main():
    smoke = "--smoke" in sys.argv
    jvms, rounds = (1, 2) if smoke else (option("--jvms", 7), 8)
    run = Run("api")
    with tempfile.TemporaryDirectory() as directory:
        class_path = compiled(directory, jdks().values())
        for jdk, executable in jdks().items():
            all_figures = {sink: [] for sink in SINKS}
            for _ in range(jvms):
                for sink, agent in SINKS.items():
                    all_figures[sink].append(figures(executable, class_path, agent, rounds))
            for sink, of_jvms in all_figures.items():
                for kind in of_jvms[0]:
                    values = [f[kind] for f in of_jvms]
                    run.note(f"raw {jdk} {sink} {kind} ns: " + " ".join(f"{v:.3f}" for v in values))
                    if kind == "nanotime" and sink == "none":
                        run.result(f"api.nanotime.{jdk}", median(values), "ns")
                    elif kind not in ("empty", "nanotime"):
                        run.result(f"api.{sink}.{kind}.{jdk}", median(values), "ns")
    run.close()


main()
