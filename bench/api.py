"""The cost of one event of the Java API: half a span, or an instant, in bursts (see programs/ApiBench.java).

"agent" records into the agent's memory, and nothing else is traced. "ring" records into a ring file. "none" is a
program that nobody records. "nanotime" is what System.nanoTime() costs alone, which the agent's events contain.

Variants run in turn, each time in a fresh JVM; --jvms N sets how many of each (7). A JVM's figure is the least of
its rounds, without those in which compiled code is not there yet, and a variant's the median of its JVMs.
"""

import os
import re
import subprocess
import sys
import tempfile

from common import ROOT, TARGET, Run, compiled, java, jdks, median, option

API = ROOT / "java" / "api" / "target" / "lookback-api.jar"
AGENT_OPTIONS = "trace=nothing.**,quiet=on"


def ring_file(directory):
    """Creates a ring file in memory, where there is such a place; gives the JVM's options for it."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else directory
    file = f"{place}/lookback-bench-{os.getpid()}.ring"
    example = ["cargo", "run", "--quiet", "--release", "-p", "lookback-c", "--example", "ring", "--"]
    subprocess.run([*example, "create", file, "16"], check=True, cwd=ROOT)
    # Without it, a JDK from 24 on warns of the library.
    library = f"-Dlookback.library={TARGET / 'liblookback_ring.so'}"
    return file, [f"-Dlookback.ring={file}", library, "--enable-native-access=ALL-UNNAMED"]


def figures(executable, class_path, sink, rounds):
    """Nanoseconds an event, by its kind: the least of the later rounds."""
    options, agent = sink
    out = java(executable, [*options, "-cp", class_path, "ApiBench", str(rounds)], agent)
    found = {}
    for kind, value in re.findall(r"^(\w+) (-?[\d.]+)$", out, re.MULTILINE):
        found.setdefault(kind, []).append(float(value))
    return {kind: min(values[len(values) // 2 :]) for kind, values in found.items()}


def main():
    smoke = "--smoke" in sys.argv
    jvms, rounds = (1, 2) if smoke else (option("--jvms", 7), 8)
    run = Run("api")
    with tempfile.TemporaryDirectory() as directory:
        class_path = compiled("ApiBench", directory, jdks().values(), API)
        file, ring_options = ring_file(directory)
        sinks = {"none": ([], None), "agent": ([], AGENT_OPTIONS), "ring": (ring_options, None)}
        for jdk, executable in jdks().items():
            all_figures = {sink: [] for sink in sinks}
            for _ in range(jvms):
                for name, sink in sinks.items():
                    all_figures[name].append(figures(executable, class_path, sink, rounds))
            for sink, of_jvms in all_figures.items():
                for kind in of_jvms[0]:
                    values = [f[kind] for f in of_jvms]
                    run.note(f"raw {jdk} {sink} {kind} ns: " + " ".join(f"{v:.3f}" for v in values))
                    if kind == "nanotime" and sink == "none":
                        run.result(f"api.nanotime.{jdk}", median(values), "ns")
                    elif kind not in ("empty", "nanotime"):
                        run.result(f"api.{sink}.{kind}.{jdk}", median(values), "ns")
        os.remove(file)
    run.close()


main()
