"""What the agent adds to a start: `hello world`, and the rewriting of a class.

Bare and with the agent in turn; wall time of the whole process. The cost of a class is what the agent itself
counts (processor time of the class hook), over all classes that a workload loads.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

from common import JARS, Run, java, jdks, median

HELLO = 'public class Hello { public static void main(String[] a) { System.out.println("hello"); } }'


def main():
    smoke = "--smoke" in sys.argv
    run = Run("startup")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "Hello.java"
        source.write_text(HELLO)
        for jdk, executable in jdks().items():
            subprocess.run(["javac", "--release", "17", "-d", folder, str(source)], check=True)
            times = {"bare": [], "on": []}
            for _ in range(3 if smoke else 41):
                for mode, agent in (("bare", None), ("on", "quiet=on")):
                    begun = time.monotonic()
                    java(executable, ["-cp", folder, "Hello"], agent)
                    times[mode].append((time.monotonic() - begun) * 1e3)
            for mode, values in times.items():
                run.note(f"raw {jdk} hello {mode} ms: " + " ".join(f"{v:.1f}" for v in values))
            added = median([a - b for a, b in zip(times["on"], times["bare"])])
            run.result(f"startup.hello.added.{jdk}", added, "ms")
            for workload in ("h2",) if smoke else ("h2", "lucene-search", "pmd"):
                options = ["-cp", JARS, "dev.lookback.workloads.Main", workload, "--iterations", "1"]
                out = java(executable, [*options, "--size", "small"], "stats=on")
                classes = re.search(r"rewriting: (\S+) us a class \((\d+) us, (\d+) classes seen", out)
                run.note(f"raw {jdk} {workload} {classes.group(0)}")
                run.result(f"startup.{workload}.class.{jdk}", float(classes.group(1)), "us")
    run.close()


main()
