"""What an event costs in the ring and in other tracers: LTTng-UST, ftrace, JFR, one buffer for all, one a thread.

Each tracer's own program measures it by clean bursts (crates/lookback-ring/benches/ring.rs says how); here they take
turns, --rounds N times (8), so that a noisy neighbour meets all of them. Figures are the lower quartile of the rounds'
medians ("busy": the upper, what neighbours make of it), ratios medians of each round's ratio. An event of 32 or 64 bytes has its time in them, here as in the tracers that stamp events
themselves; JFR's has two longs and is set against 32 bytes. The distribution of single events is drawn like the paper's
figure 11 ("Enabling Efficient Mobile Tracing with BTrace", ASPLOS 2025), beside the raw data.
"""

import collections
import re
import sys
import tempfile

import tracers
from common import Run, median, option, quartile
from plots import COLOURS, Axis, Plot, decades

BENCH = ["cargo", "bench", "--quiet", "-p", "lookback-ring", "--bench", "ring", "--"]
RESULT = re.compile(r"result (\S+) (\S+) ns")
LATENCY = re.compile(r"latency (\w[\w-]*)\.1t\.\S+ (.*)")
SIZES = ("32B", "64B")
TRACERS = ("ring", "lttng", "jfr17", "jfr25", "ftrace", "global", "per-thread")


def set_against(tracer, size):
    """The figure of a tracer that is compared with the ring's events of this size."""
    return "2longs" if tracer.startswith("jfr") else size


def ratios(run, rounds):
    for tracer in TRACERS[1:]:
        for threads in ("1t", "2t"):
            for size in SIZES[:1] if tracer.startswith("jfr") else SIZES:
                other, ours = f"{tracer}.{threads}.{set_against(tracer, size)}", f"ring.{threads}.{size}"
                found = [r[other] / r[ours] for r in rounds if other in r and ours in r]
                if found:
                    run.result(f"ratio.{tracer}-to-ring.{'' if threads == '1t' else '2t.'}{size}", median(found), "X")


def table(figures):
    columns = ["1t.32B", "1t.64B", "2t.32B", "2t.64B", "1t.32B.p50", "1t.32B.p99", "1t.32B.p99.9", "1t.32B.gm"]
    heads = ["32 B, 1 thread", "64 B", "32 B, 2 threads", "64 B", "p50", "p99", "p99.9", "geometric mean"]
    rows = [["ns an event", *heads], ["---"] + ["---:"] * len(heads)]
    for tracer in TRACERS:
        names = [f"{tracer}.{c.replace('32B', set_against(tracer, '32B'))}" for c in columns]
        if any(name in figures for name in names):
            rows.append([tracer, *(f"{figures[n]:.1f}" if n in figures else "-" for n in names)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def figure11(latencies):
    """The distribution of single events; the median of the rounds for each quantile."""
    x = Axis("ns an event, as seen by a clock read before and after it", 10, 10_000, decades(10, 10_000), log=True)
    plot = Plot("How long single events take", x, Axis("% of the events", 0, 100, range(0, 101, 20))).axes()
    for index, tracer in enumerate(t for t in TRACERS if t in latencies):
        quantiles = [median(values) for values in zip(*latencies[tracer])]
        points = [(value, 100 * at / len(quantiles)) for at, value in enumerate(quantiles)]
        plot.curve(points, COLOURS[index], tracer, marks=False, step=True)
    return plot


def main():
    smoke = "--smoke" in sys.argv
    # Two threads of a JVM, which nothing pins, are seldom undisturbed together.
    many = {"ring": 60, "ftrace": 30, "jfr17": 400, "jfr25": 400}
    count, bursts = (1, {"ring": 3}) if smoke else (option("--rounds", 8), many)
    run = Run("ring", needs=())
    rounds, latencies = [], collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        programs = tracers.cost_programs(folder, run)
        for number in range(count):
            lines = tracers.output([*BENCH, str(bursts["ring"])]).splitlines()
            for tracer, measure in programs.items():
                lines += measure(bursts.get(tracer, 5 if smoke else 60))
            lines = [line for line in lines if line.startswith(("result ", "latency ", "# "))]
            for line in lines:
                run.note(f"raw round {number + 1} {line}")
            rounds.append({m.group(1): float(m.group(2)) for m in map(RESULT.match, lines) if m})
            for match in filter(None, map(LATENCY.match, lines)):
                if "probe" not in match.group(0):
                    latencies[match.group(1)].append([float(value) for value in match.group(2).split()])
    names = dict.fromkeys(name for figures in rounds for name in figures)
    taken = {name: [r[name] for r in rounds if name in r] for name in names}
    figures = {name: quartile(values, 1) for name, values in taken.items()}
    for name, value in figures.items():
        run.result(name, value, "ns")
    for name in ("ring.1t.32B", "ring.2t.32B"):
        run.result(f"{name}.busy", quartile(taken[name], 3), "ns")
    ratios(run, rounds)
    run.keep("table.md", table(figures))
    run.keep("figure11.svg", figure11(latencies).svg())
    run.close()


main()
