"""What the benchmarks share: where things are, how a program is run, how figures are kept and printed.

The constraint that shaped it: machines are shared and noisy, so every benchmark runs its variants in turn
(A B C A B C ...) and prints ratios or differences of their figures, never a lone absolute time. Each is a workload of
an experiment of the same name (experiments/), whose figures are its lines `result NAME VALUE UNIT`; with `--out DIR`,
which the experiment gives, raw lines and what is drawn are kept in that directory, to be published with them.
"""

import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
AGENT = pathlib.Path(os.environ.get("LOOKBACK_AGENT", TARGET / "liblookback.so"))
JARS = f"{ROOT}/java/workloads/target/lookback-workloads.jar:{ROOT}/java/workloads/target/lib/*"


def jdks():
    """The JDKs at hand: {"jdk17": java, "jdk25": java}; a missing one is said, not hidden."""
    found = {}
    for major in ("17", "25"):
        homes = [os.environ.get(f"JAVA_HOME_{major}")]
        homes += sorted(str(p) for p in pathlib.Path("/usr/lib/jvm").glob(f"*{major}*"))
        homes += [str(TARGET.parent / "tools" / f"jdk{major}")]
        javas = [pathlib.Path(h) / "bin" / "java" for h in homes if h]
        java = next((j for j in javas if j.exists() and version(j).startswith(major)), None)
        if java:
            found[f"jdk{major}"] = str(java)
        else:
            print(f"no JDK {major} found; set JAVA_HOME_{major}", file=sys.stderr)
    return found


def version(java):
    text = subprocess.run([str(java), "-version"], capture_output=True, text=True).stderr
    match = re.search(r'version "([^"]+)"', text)
    return match.group(1) if match else ""


def compiled(program, directory, executables, *class_path):
    """Compiles bench/programs/PROGRAM.java with the first JDK that has a compiler; gives the class path to run it with."""
    entries = ":".join([str(directory), *map(str, class_path)])
    source = ROOT / "bench" / "programs" / f"{program}.java"
    javacs = [executable + "c" for executable in executables]
    for javac in javacs:
        try:
            subprocess.run([javac, "--release", "17", "-cp", entries, "-d", directory, source], check=True)
            return entries
        except FileNotFoundError:
            pass
    sys.exit(f"none of {', '.join(javacs)} is there")


class Run:
    """Prints the raw lines of one benchmark run and its results, and keeps them where it is told to."""

    def __init__(self, name, needs=(AGENT, pathlib.Path(JARS.split(":")[0]))):
        for needed in needs:
            if not needed.exists():
                sys.exit(f"{needed} is missing; run `make build` first")
        self.name = name
        self.directory = pathlib.Path(sys.argv[sys.argv.index("--out") + 1]) if "--out" in sys.argv else None
        self.lines = []
        now = datetime.datetime.now(datetime.timezone.utc)
        cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?")
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
        self.note(f"# {name}, {now:%Y-%m-%d %H:%M} UTC, commit {commit.stdout.strip()}")
        self.note(f"# {os.cpu_count()} cores, {cpu}, Linux {platform.release()}, load {os.getloadavg()[0]:.1f}")
        for jdk, java in jdks().items():
            self.note(f"# {jdk}: {version(java)}")

    def note(self, line):
        self.lines.append(line)
        print(line, flush=True)

    def follow(self, command):
        """Notes what a program prints, line by line, and gives it."""
        lines = []
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as program:
            for line in program.stdout:
                lines.append(line.rstrip("\n"))
                self.note(lines[-1])
        if program.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed with {program.returncode}")
        return lines

    def result(self, name, value, unit):
        self.note(f"result {name} {value:.4g} {unit}")

    def keep(self, name, text):
        """Keeps a text as a file, where anything is kept."""
        if self.directory:
            self.directory.mkdir(parents=True, exist_ok=True)
            (self.directory / name).write_text(text)

    def close(self):
        self.note(f"# load at the end {os.getloadavg()[0]:.1f}")
        self.keep(f"{self.name}.txt", "\n".join(self.lines) + "\n")


def java(executable, options, agent=None, timeout=600):
    """Runs a JVM and gives its standard output; `agent` is the agent's option string or None."""
    with_agent = [] if agent is None else [f"-agentpath:{AGENT}={agent}"]
    command = [executable, *with_agent, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def median(values):
    return statistics.median(values)


def quartile(values, which):
    """The lower quartile for 1, the upper for 3."""
    return statistics.quantiles(values, n=4, method="inclusive")[which - 1] if len(values) > 1 else values[0]


def option(name, default):
    """The whole number that follows `name` on the command line."""
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default
