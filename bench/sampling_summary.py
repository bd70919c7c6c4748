"""What the experiment `sampling` says of all programs: sampling_summary.py RESULTS [--out DIR]

RESULTS is its directory of results. Prints, over the programs:

  sampling.ENGINE.INTERVAL.overhead.pct          geometric mean, of CPU time, with .low and .high of a 95 % bootstrap of the programs
  sampling.ENGINE.INTERVAL.overhead.worst.pct    of the program that pays most
  sampling.ENGINE.INTERVAL.overhead.wall.pct     geometric mean, by the clock on the wall, and .worst
  sampling.ENGINE.INTERVAL.latency.us            median of the programs' medians, and .worst
  sampling.ENGINE.INTERVAL.{stability,overlap.REFERENCE,hot.REFERENCE}.pct   median of the programs, and .least

`none` is nothing against nothing: what the figures' noise is. With `--out` the thesis' figures are drawn there.
"""

import collections
import json
import pathlib
import random
import statistics
import sys

from plots import COLOURS, Axis, Plot, decades

ENGINES = (
    "safepoint", "handshake", "signal", "poll", "async-cpu", "async-wall", "incremental", "partial", "partial-incremental",
    "incremental-signal",
)
# The figures of overheads by interval: number, and ticks in percent.
FIGURES = {"10ms": ("5.1", range(-4, 21, 4)), "1ms": ("5.2", range(-5, 31, 5)), "0.1ms": ("5.3", range(-10, 101, 10))}
# The stock VM's figure of an engine counts where both have one.
VMS = ("extended", "17")


def figures(records):
    """The figures of records that count: {metric: {program: value}}.

    >>> one = {"workload": "h2-sampling", "jdk": "17", "outcome": {"kind": "ok"}, "disturbances": [],
    ...        "iterations": [{"metrics": {"poll.1ms.overhead.pct": 0.5}}]}
    >>> figures([one, one | {"disturbances": ["x"]}])
    ({'poll.1ms.overhead.pct': {'h2': 0.5}}, ['h2-sampling 17'])
    """
    found, disturbed = {}, {}
    for vm in VMS:
        for record in records:
            name = f"{record['workload']} {record['jdk']}"
            if record["jdk"] != vm or record["outcome"]["kind"] != "ok":
                continue
            if record["disturbances"]:
                disturbed[name] = True
            # One that is undisturbed comes last, and stays.
            elif disturbed.get(name):
                disturbed[name] = False
            for metric, value in record["iterations"][0]["metrics"].items():
                found.setdefault(metric, {})[record["workload"].partition("-sampling")[0]] = value
    return found, [name for name, still in disturbed.items() if still]


def mean(percents):
    """The geometric mean of changes in percent.

    >>> round(mean([21.0, 0.0]), 6)
    10.0
    """
    return 100 * (statistics.geometric_mean(1 + value / 100 for value in percents) - 1)


def interval(percents, draws=10_000):
    """The ends of a 95 % bootstrap interval of their mean.

    >>> interval([1.0, 1.0])
    (1.0, 1.0)
    """
    chance = random.Random(1)
    means = sorted(mean(chance.choices(percents, k=len(percents))) for _ in range(draws))
    return tuple(round(means[round(part * (draws - 1))], 9) for part in (0.025, 0.975))


def lines(found):
    """All lines: name, value, unit."""
    for metric, by_program in sorted(found.items()):
        values, name = list(by_program.values()), f"sampling.{metric}"
        if metric.endswith(".overhead.pct"):
            low, high = interval(values)
            yield name, mean(values), "%"
            yield f"{name}.low", low, "%"
            yield f"{name}.high", high, "%"
            yield name.replace(".pct", ".worst.pct"), max(values), "%"
        elif metric.endswith(".overhead.wall.pct"):
            yield name, mean(values), "%"
            yield name.replace(".pct", ".worst.pct"), max(values), "%"
        elif metric.endswith(".latency.median.us"):
            short = name.replace(".median.us", "")
            yield f"{short}.us", statistics.median(values), "us"
            yield f"{short}.worst.us", max(values), "us"
        elif metric.endswith(".pct"):
            yield name, statistics.median(values), "%"
            yield name.replace(".pct", ".least.pct"), min(values), "%"


def groups(found, metric):
    """The engines that have a metric, with {} for the engine, the programs that it is of, and the axis of these."""
    shown = [engine for engine in ENGINES if metric.format(engine) in found]
    programs = sorted({program for engine in shown for program in found[metric.format(engine)]})
    x = Axis("", 0, len(programs), [i + 0.5 for i in range(len(programs))], names=[p[:7] for p in programs])
    return shown, programs, x


def bars(title, label, found, metric, ticks, low=0.0):
    """A group of bars a program, one an engine: `metric` has {} for the engine."""
    shown, programs, x = groups(found, metric)
    if not shown:
        return None
    plot = Plot(title, x, Axis(label, low, ticks[-1], ticks)).axes()
    for index, engine in enumerate(shown):
        plot.name(COLOURS[ENGINES.index(engine)], engine)
        for at, program in enumerate(programs):
            value = found[metric.format(engine)].get(program)
            if value is not None:
                width = 0.8 / len(shown)
                left, zero = plot.place(at + 0.1 + index * width, 0.0)
                right, top = plot.place(at + 0.1 + (index + 1) * width, value)
                plot.rect(left, min(top, zero), right - left, max(abs(zero - top), 0.6), COLOURS[ENGINES.index(engine)])
    return plot


def requests(found):
    """Figure 5.4: the 2.5th percentile, the median and the 97.5th of a request at 1 ms, by program and engine."""
    shown, programs, x = groups(found, "{}.1ms.latency.median.us")
    if not shown:
        return None
    plot = Plot("Figure 5.4: how long a request takes at 1 ms", x, Axis("us", 0.1, 1e5, decades(0.1, 1e5), log=True)).axes()
    for index, engine in enumerate(shown):
        colour = COLOURS[ENGINES.index(engine)]
        plot.name(colour, engine)
        for at, program in enumerate(programs):
            ends = [found[f"{engine}.1ms.latency.{part}.us"].get(program) for part in ("low", "median", "high")]
            if None in ends:
                continue
            places = [plot.place(at + 0.1 + (index + 0.5) * 0.8 / len(shown), end) for end in ends]
            plot.line(*places[0], *places[2], colour, 1.4)
            plot.line(places[1][0] - 2.5, places[1][1], places[1][0] + 2.5, places[1][1], colour, 2.4)
    return plot


def drawings(found):
    """The thesis' figures as SVG, by name; 5.5 and 5.6 are definitions (profiles.py). None where nothing was measured of it."""
    tens = range(0, 101, 20)
    for every, (number, ticks) in FIGURES.items():
        title = f"Figure {number}: overhead at {every}, CPU time"
        yield number, bars(title, "%", found, f"{{}}.{every}.overhead.pct", ticks, ticks[0])
    yield "5.4", requests(found)
    yield "5.7", bars("Figure 5.7: overlap of single profiles with their mean, 1 ms", "%", found, "{}.1ms.stability.pct", tens)
    for number, reference in (("5.8", "safepoint"), ("5.9", "signal")):
        for kind, word in (("overlap", "overlap"), ("hot", "hot-edge coverage")):
            title = f"Figure {number}: {word} with {reference}, 1 ms"
            yield f"{number}-{kind}", bars(title, "%", found, f"{{}}.1ms.{kind}.{reference}.pct", tens)


def main():
    results = pathlib.Path(sys.argv[1])
    with open(results / "results.jsonl", encoding="utf-8") as records:
        found, disturbed = figures(list(map(json.loads, records)))
    programs = collections.Counter(program for metric in found.values() for program in metric)
    print(f"# {len(programs)} programs; disturbed, and counted: {', '.join(disturbed) or 'none'}")
    for name, value, unit in lines(found):
        print(f"result {name} {value:.4g} {unit}")
    if "--out" in sys.argv:
        out = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
        out.mkdir(parents=True, exist_ok=True)
        for number, plot in drawings(found):
            if plot is None:
                continue
            (out / f"figure{number}.svg").write_text(plot.svg())


if __name__ == "__main__":
    main()
