#!/usr/bin/env python3
"""What sampling costs one program, how long its requests take, and how alike the profiles are: sampling.py JAVA AGENT WORKLOADS NAME

The program runs in one JVM all the time while one engine after the other samples it for a window of some seconds. What its
iterations cost in a window is set against the two windows of the same round in which nothing samples: so all see the same
compiled code, and the machine as it was within the same minute. Engines of the extended VM take part where JAVA is one. On
the stock one the program is started once more, traced with the default budget, and the engine `poll` is set against tracing
alone. Options: --seconds S of a window (3), --rounds N (2), --warm S (15), --intervals 10ms,1ms,0.1ms, --out DIR for raw data.

Prints `result` lines, of this program and VM:

  ENGINE.INTERVAL.overhead.pct        CPU time of an iteration, all that the process spends; `none` is nothing against nothing
  ENGINE.INTERVAL.overhead.wall.pct   the same by the clock on the wall
  ENGINE.INTERVAL.latency.{low,median,high}.us   of a request: the 2.5th, 50th and 97.5th percentile
  ENGINE.INTERVAL.samples             taken a window
  ENGINE.INTERVAL.stability.pct       degree of overlap of single windows' trees with their mean (the thesis, figure 5.7)
  ENGINE.INTERVAL.{overlap,hot}.REFERENCE.pct    with the tree of `safepoint` and of `signal` (figures 5.8 and 5.9)

The constraint that shaped it: an iteration counts only if it lies in its window as a whole, and windows begin when the agent has
been asked and end before it writes, so a profile's file costs nothing here.
"""

import contextlib
import json
import math
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

import profiles

STOCK = ("safepoint", "handshake", "signal", "async-cpu", "async-wall")
EXTENDED = ("safepoint", "incremental", "partial", "partial-incremental", "incremental-signal")
REFERENCES = ("safepoint", "signal")
# The interval at which the thesis compares trees; engines that are references alone sample at it.
COMPARED = "1ms"
# Of a window, seconds: for its engine to be there.
BEGIN = 0.4
# A window goes on until it has so many iterations, and at most so many times as long as it is asked to be.
LEAST, LONGEST = 3, 4
ITERATION = re.compile(r"iteration \d+ \S+ ([\d.]+) ms cpu ([\d.]+) ms")
ASYNC = pathlib.Path(__file__).resolve().parent.parent / "java/probe/target/async-profiler/linux-x64/libasyncProfiler.so"


def microseconds(interval):
    """
    >>> microseconds("10ms"), microseconds("0.1ms")
    (10000, 100)
    """
    return round(1000 * float(interval.removesuffix("ms")))


class Iterations:
    """The iterations of a program that runs, as it tells of them: end (seconds), wall and CPU time (ms)."""

    def __init__(self, output):
        self.done = []
        threading.Thread(target=self._read, args=(output,), daemon=True).start()

    def _read(self, output):
        for line in output:
            if match := ITERATION.match(line):
                self.done.append((time.monotonic(), float(match.group(1)), float(match.group(2))))

    def within(self, begin, end):
        """Wall and CPU times of those that lie in a window as a whole."""
        return [(wall, cpu) for at, wall, cpu in self.done if at <= end and at - wall / 1e3 >= begin]


class Program:
    """A program that runs until it is closed, with the agent in it."""

    def __init__(self, arguments, name, options, agent_options):
        java, agent, workloads = arguments
        self.java, self.bin = java, str(pathlib.Path(agent).parent / "lookback")
        command = [java, *options, "-XX:+UseG1GC", "-Xmx768m", f"-agentpath:{agent}={agent_options}"]
        command += ["-cp", f"{workloads}/lookback-workloads.jar:{workloads}/lib/*", "dev.lookback.workloads.Main", name]
        command += ["--iterations", "1000000", "--cpu"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.iterations = Iterations(self.process.stdout)

    def window(self, seconds, sample):
        """Its iterations while `sample` samples it."""
        with sample(self):
            begin = time.monotonic() + BEGIN
            while True:
                time.sleep(0.02)
                end = time.monotonic()
                found = self.iterations.within(begin, end)
                if end - begin >= seconds and len(found) >= LEAST or end - begin >= LONGEST * seconds:
                    return found
                if self.process.poll() is not None:
                    sys.exit(f"the program has ended with {self.process.returncode}")

    def close(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def none(program):
    """Nothing samples."""
    yield


def lookback(engine, interval, file):
    """One of our engines. It is told when the window has ended, and writes then."""

    @contextlib.contextmanager
    def sample(program):
        command = [program.bin, "profile", str(program.process.pid), "-d", "10m", "-i", f"{microseconds(interval)}us"]
        done = subprocess.Popen([*command, "--engine", engine, "-o", f"{file}.lkb"], stderr=subprocess.PIPE, text=True)
        yield
        done.send_signal(signal.SIGINT)
        _, said = done.communicate()
        if done.returncode != 0:
            sys.exit(f"{engine} at {interval}: {said}")

    return sample


def async_profiler(event, interval, file):
    """async-profiler, loaded into the program when it is first asked for."""

    def tell(program, text):
        jcmd = str(pathlib.Path(program.java).parent / "jcmd")
        subprocess.run([jcmd, str(program.process.pid), "JVMTI.agent_load", str(ASYNC), f'"{text}"'], check=True, capture_output=True)

    @contextlib.contextmanager
    def sample(program):
        tell(program, f"start,event={event},interval={interval},cstack=no,threads")
        yield
        tell(program, f"stop,file={file}.collapsed,collapsed")

    return sample


def sampler(engine, interval, file):
    if engine == "none":
        return none
    if engine.startswith("async-"):
        return async_profiler({"async-cpu": "ctimer", "async-wall": "wall"}[engine], f"{microseconds(interval)}us", file)
    return lookback(engine, interval, file)


def order(engines, number):
    """The windows of a round: nothing first and in the middle, and engines in another order each time.

    >>> order(["a", "b", "c", "d"], 0), order(["a", "b", "c", "d"], 1)
    (['none', 'a', 'b', 'none', 'c', 'd'], ['none', 'c', 'd', 'none', 'a', 'b'])
    """
    shift = number * len(engines) // 2 % len(engines)
    turned = engines[shift:] + engines[:shift]
    half = len(engines) // 2
    return ["none", *turned[:half], "none", *turned[half:]]


def change(measured, base):
    """What iterations cost more than others, as ratios of wall and CPU time.

    >>> change([(10.0, 30.0), (30.0, 30.0)], [(10.0, 20.0)])
    (2.0, 1.5)
    """
    return tuple(statistics.fmean(one[i] for one in measured) / statistics.fmean(one[i] for one in base) for i in (0, 1))


def percent(ratios):
    """The geometric mean of ratios as a change in percent.

    >>> round(percent([1.21, 1.0]), 6)
    10.0
    """
    return 100 * (math.exp(statistics.fmean(map(math.log, ratios))) - 1)


class Session:
    """What is measured of one program that runs."""

    def __init__(self, program, directory, seconds):
        self.program, self.directory, self.seconds = program, directory, seconds
        self.ratios, self.files, self.raw = {}, {}, []

    def round(self, number, engines, interval):
        """One window of each engine, and two of nothing."""
        found = []
        for engine in order(engines, number):
            file = self.directory / f"{engine}-{interval}-{number}"
            found.append((engine, self.program.window(self.seconds, sampler(engine, interval, file))))
            if engine != "none":
                self.files.setdefault((engine, interval), []).append(file)
            for wall, cpu in found[-1][1]:
                self.raw.append(f"{interval}\t{number}\t{engine}\t{wall}\t{cpu}")
        nothing = [iterations for engine, iterations in found if engine == "none"]
        base = [one for iterations in nothing for one in iterations]
        for engine, iterations in found:
            if engine != "none" and iterations and base:
                self.ratios.setdefault((engine, interval), []).append(change(iterations, base))
        if all(nothing):
            self.ratios.setdefault(("none", interval), []).append(change(nothing[1], nothing[0]))

    def costs(self):
        """The lines of what it has cost."""
        for (engine, interval), ratios in sorted(self.ratios.items()):
            walls, cpus = zip(*ratios)
            yield f"{engine}.{interval}.overhead.pct", percent(cpus), "%"
            yield f"{engine}.{interval}.overhead.wall.pct", percent(walls), "%"

    def requests(self):
        """The lines of how long requests took."""
        for (engine, interval), files in sorted(self.files.items()):
            if engine.startswith("async-"):
                continue
            facts = [self._facts(file) for file in files]
            for index, name in enumerate(("low", "median", "high")):
                yield f"{engine}.{interval}.latency.{name}.us", statistics.fmean(f["latency"][index] for f in facts) / 1e3, "us"
            yield f"{engine}.{interval}.samples", statistics.fmean(f["samples"] for f in facts), "count"

    def _facts(self, file):
        told = subprocess.run([self.program.bin, "info", "--json", f"{file}.lkb"], check=True, capture_output=True, text=True)
        return json.loads(told.stdout)["manifest"]["sampling"]

    def likeness(self):
        """The lines of how alike the profiles are."""
        trees = {key: [self._tree(file) for file in files] for key, files in self.files.items() if key[0] != "async-wall"}
        means = {key: profiles.merged(of) for key, of in trees.items() if all(of)}
        for (engine, interval), mean in sorted(means.items()):
            stability = statistics.fmean(profiles.overlap(one, mean) for one in trees[engine, interval])
            yield f"{engine}.{interval}.stability.pct", 100 * stability, "%"
            for reference in REFERENCES:
                other = means.get((reference, interval))
                if other and reference != engine:
                    yield f"{engine}.{interval}.overlap.{reference}.pct", 100 * profiles.overlap(mean, other), "%"
                    yield f"{engine}.{interval}.hot.{reference}.pct", 100 * profiles.hot_cover(mean, other), "%"

    def _tree(self, file):
        if pathlib.Path(f"{file}.lkb").exists():
            command = [self.program.bin, "convert", f"{file}.lkb", "--running", "-o", f"{file}.collapsed"]
            subprocess.run(command, check=True, capture_output=True)
        with open(f"{file}.collapsed", encoding="utf-8") as lines:
            return profiles.tree(lines)


def is_extended(java):
    done = subprocess.run([java, "-XX:+LookbackSampling", "-version"], capture_output=True, check=False)
    return done.returncode == 0


def measure(arguments, name, settings, options, agent_options, engines, intervals):
    """The lines of a program's session, and its raw data."""
    program = Program(arguments, name, options, agent_options)
    try:
        time.sleep(settings["warm"])
        session = Session(program, settings["directory"], settings["seconds"])
        for interval in intervals:
            for number in range(settings["rounds"]):
                # A tree is compared with that of an engine of the same JVM.
                more = [r for r in REFERENCES if r not in engines and interval == COMPARED and "poll" not in engines]
                session.round(number, [*engines, *more], interval)
    finally:
        program.close()
    return [*session.costs(), *session.requests(), *session.likeness()], session.raw


def setting(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def main():
    *arguments, name = sys.argv[1:5]
    out = pathlib.Path(setting("--out", "sampling"))
    directory = out.parent / "profiles"
    directory.mkdir(parents=True, exist_ok=True)
    settings = {
        "seconds": float(setting("--seconds", "3")), "rounds": int(setting("--rounds", "2")),
        "warm": float(setting("--warm", "15")), "directory": directory,
    }
    intervals = setting("--intervals", "10ms,1ms,0.1ms").split(",")
    quiet = "tracing=off,quiet=on,ring=16m"
    if is_extended(arguments[0]):
        lines, raw = measure(arguments, name, settings, ["-XX:+LookbackSampling"], quiet, EXTENDED, intervals)
    else:
        stock = [engine for engine in STOCK if ASYNC.exists() or not engine.startswith("async-")]
        lines, raw = measure(arguments, name, settings, [], quiet, stock, intervals)
        # It samples once a tick at the most.
        ticks = [interval for interval in intervals if interval != "0.1ms"]
        more, traced = measure(arguments, name, settings | {"warm": 2 * settings["warm"]}, [], "quiet=on,learned=off", ["poll"], ticks)
        lines += [("traced." + found if found.startswith("none.") else found, value, unit) for found, value, unit in more]
        raw += ["traced\t" + line for line in traced]
    for found, value, unit in lines:
        print(f"result {found} {value:.4g} {unit}")
    if len(lines) == 0:
        sys.exit("nothing was measured")
    out.mkdir(parents=True, exist_ok=True)
    head = "interval\tround\tengine\twall_ms\tcpu_ms"
    (out / f"{name}-{'extended' if is_extended(arguments[0]) else 'stock'}.tsv").write_text("\n".join([head, *raw]) + "\n")


if __name__ == "__main__":
    main()
