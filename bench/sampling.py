#!/usr/bin/env python3
"""What sampling costs one program, how long its requests take, and how alike the profiles are: sampling.py JAVA AGENT WORKLOADS NAME

The program runs in one JVM all the time while one engine after the other samples it for a window of some seconds. What its
iterations cost in a window is set against the nearest windows in which nothing samples, two before and two after it: so all see the
same compiled code and the machine of the same seconds, and what drifts drops out. A neighbour on the machine can double what a few
seconds cost, so medians are taken, of those windows and of rounds. Engines of the extended VM take part where JAVA is one. With --traced
the program is traced with the default budget, and the engine `poll` is set against tracing alone.
Options: --seconds S of a window (1), --rounds N (5; half as many at 0.1 ms), --warm S (40),
--intervals 1ms,0.1ms,10ms, --out DIR for raw data.

Prints `result` lines, of this program and VM:

  ENGINE.INTERVAL.overhead.pct        CPU time of an iteration, all that the process spends but for the VM's compilers, whose work comes
                                      in bursts; `none` is nothing against nothing
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
EXTENDED = ("incremental", "partial", "partial-incremental", "incremental-signal")
REFERENCES = ("safepoint", "signal")
# So many engines take their turns between two windows of nothing.
BETWEEN = 3
# Of a window, seconds: for its engine to be there.
BEGIN = 0.3
# So many windows of nothing on either side of one say what it would have cost.
NEAREST = 2
# A window goes on until it has so many iterations, and at most so many times as long as it is asked to be.
LEAST, LONGEST = 2, 4
ITERATION = re.compile(r"iteration \d+ \S+ ([\d.]+) ms cpu ([\d.]+) ms")
ASYNC = pathlib.Path(__file__).resolve().parent.parent / "java/probe/target/async-profiler/linux-x64/libasyncProfiler.so"


def microseconds(interval):
    """
    >>> microseconds("10ms"), microseconds("0.1ms")
    (10000, 100)
    """
    return round(1000 * float(interval.removesuffix("ms")))


class Compilers:
    """The CPU time of a VM's compilers."""

    def __init__(self, pid):
        self.tasks, self.spent = pathlib.Path(f"/proc/{pid}/task"), {}

    def millis(self):
        """So far; a compiler that has ended counts as it was seen last."""
        for task in self.tasks.iterdir():
            with contextlib.suppress(OSError):
                if "CompilerThre" in (task / "comm").read_text():
                    self.spent[task.name] = int((task / "schedstat").read_text().split()[0])
        return sum(self.spent.values()) / 1e6


class Iterations:
    """The iterations of a program that runs, as it tells of them: end (seconds), wall and CPU time (ms) without that of compilers."""

    def __init__(self, process):
        self.done = []
        threading.Thread(target=self._read, args=(process.stdout, Compilers(process.pid)), daemon=True).start()

    def _read(self, output, compilers):
        before = 0.0
        for line in output:
            if match := ITERATION.match(line):
                at = time.monotonic()
                with contextlib.suppress(OSError):
                    now = compilers.millis()
                    self.done.append((at, float(match.group(1)), float(match.group(2)) - (now - before)))
                    before = now

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
        self.iterations = Iterations(self.process)

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
        pid = str(program.process.pid)
        command = [program.bin, "profile", pid, "-d", "10m", "-i", f"{microseconds(interval)}us"]
        done = subprocess.Popen([*command, "--engine", engine, "-o", f"{file}.lkb"], stderr=subprocess.PIPE, text=True)
        yield
        done.send_signal(signal.SIGINT)
        _, said = done.communicate()
        if done.returncode != 0:
            # Tracing that has turned itself off says why there.
            status = subprocess.run([program.bin, "status", pid], capture_output=True, text=True, check=False)
            sys.exit(f"{engine} at {interval}: {said}{status.stdout}")

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
    """The windows of a round: nothing now and then, and engines in another order each time.

    >>> order(["a", "b", "c", "d"], 0), order(["a", "b", "c", "d"], 1)
    (['none', 'a', 'b', 'c', 'none', 'd'], ['none', 'c', 'd', 'a', 'none', 'b'])
    """
    shift = number * len(engines) // 2 % len(engines)
    turned = [*engines[shift:], *engines[:shift]]
    return [one for i in range(0, len(turned), BETWEEN) for one in ("none", *turned[i : i + BETWEEN])]


def base(windows, index, which):
    """What the window `index` of (engine, interval, values) would have cost with nothing: by the nearest other windows of nothing.

    >>> windows = [("none", "", [10.0]), ("a", "", [99.0]), ("none", "", [18.0]), ("b", "", [99.0]), ("none", "", [40.0])]
    >>> base(windows, 1, 0), base(windows, 3, 0), base(windows, 2, 0)
    (18.0, 18.0, 25.0)
    """
    nothing = [i for i, window in enumerate(windows) if window[0] == "none" and i != index]
    near = [i for i in nothing if i < index][-NEAREST:] + [i for i in nothing if i > index][:NEAREST]
    return statistics.median(windows[i][2][which] for i in near)


class Session:
    """What is measured of one program that runs."""

    def __init__(self, program, directory, seconds):
        self.program, self.directory, self.seconds = program, directory, seconds
        self.windows, self.files, self.raw = [], {}, []

    def window(self, engine, interval, number):
        """One of an engine, or of nothing."""
        file = self.directory / f"{engine}-{interval}-{number}"
        begin = time.monotonic()
        found = self.program.window(self.seconds, sampler(engine, interval, file))
        middle = (begin + time.monotonic()) / 2
        if engine != "none":
            self.files.setdefault((engine, interval), []).append(file)
        self.raw += [f"{interval}\t{number}\t{engine}\t{middle:.3f}\t{wall}\t{cpu:.1f}" for wall, cpu in found]
        if found:
            self.windows.append((engine, interval, [statistics.fmean(values) for values in zip(*found)]))

    def costs(self):
        """The lines of what it has cost."""
        ratios = {}
        for index, (engine, interval, values) in enumerate(self.windows):
            of = tuple(value / base(self.windows, index, which) for which, value in enumerate(values))
            # The first and the last of nothing have neighbours on one side alone.
            if engine != "none" or 0 < index < len(self.windows) - 1:
                ratios.setdefault((engine, interval), []).append(of)
        for (engine, interval), found in sorted(ratios.items()):
            walls, cpus = zip(*found)
            yield f"{engine}.{interval}.overhead.pct", 100 * (statistics.median(cpus) - 1), "%"
            yield f"{engine}.{interval}.overhead.wall.pct", 100 * (statistics.median(walls) - 1), "%"

    def requests(self):
        """The lines of how long requests took."""
        for (engine, interval), files in sorted(self.files.items()):
            if engine.startswith("async-"):
                counts = [sum(int(line.rpartition(" ")[2]) for line in open(f"{file}.collapsed", encoding="utf-8")) for file in files]
                yield f"{engine}.{interval}.samples", statistics.fmean(counts), "count"
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
            # One alone is its own mean.
            if len(trees[engine, interval]) > 1:
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
            # There it costs more than noise.
            rounds = settings["rounds"] if interval != "0.1ms" else max(1, settings["rounds"] // 2)
            for number in range(rounds):
                for engine in order(engines, number):
                    session.window(engine, interval, number)
        session.window("none", intervals[-1], rounds)
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
        "seconds": float(setting("--seconds", "1")), "rounds": int(setting("--rounds", "5")),
        "warm": float(setting("--warm", "40")), "directory": directory,
    }
    intervals = setting("--intervals", "1ms,0.1ms,10ms").split(",")
    quiet = "tracing=off,quiet=on,ring=16m"
    engines = [engine for engine in STOCK if ASYNC.exists() or not engine.startswith("async-")]
    kind = "traced" if "--traced" in sys.argv else "extended" if is_extended(arguments[0]) else "stock"
    if kind == "traced":
        # The governor needs time to settle, and poll samples once a tick at the most.
        settings |= {"warm": 2 * settings["warm"], "rounds": 2 * settings["rounds"]}
        ticks = [interval for interval in intervals if interval != "0.1ms"]
        lines, raw = measure(arguments, name, settings, [], "quiet=on,learned=off", ["poll"], ticks)
        lines = [("traced." + found if found.startswith("none.") else found, value, unit) for found, value, unit in lines]
    elif kind == "extended":
        options = ["-XX:+LookbackSampling"]
        lines, raw = measure(arguments, name, settings, options, quiet, [*engines, *EXTENDED], intervals)
    else:
        lines, raw = measure(arguments, name, settings, [], quiet, engines, intervals)
    for found, value, unit in lines:
        print(f"result {found} {value:.4g} {unit}")
    if len(lines) == 0:
        sys.exit("nothing was measured")
    out.mkdir(parents=True, exist_ok=True)
    head = "interval\tround\tengine\tmiddle_s\twall_ms\tcpu_ms"
    (out / f"{name}-{kind}.tsv").write_text("\n".join([head, *raw]) + "\n")


if __name__ == "__main__":
    main()
