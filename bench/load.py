"""Cost of an event against load: 1 to 1,000 threads, 1 to 256 virtual cores, areas of 1 MiB to 4 GiB.

Measured by the Rust benchmark `load`, which says what its figures mean; drawn here. On a shared machine processor time
is the figure to look at: time by the wall has what the neighbours took in it.
"""

import re
import sys

from common import Run
from plots import COLOURS, Axis, Plot, decades

BENCH = ["cargo", "bench", "--quiet", "-p", "lookback-ring", "--bench", "load", "--"]
RESULT = re.compile(r"result load\.(\D+)(\d+)(?:MiB)?(\.new)?\.(cpu|dropped|skipped) (\S+)")
CURVES = {
    ("threads", None): "threads, A = 16 x cores",
    ("manyactive", None): "threads, A = 256",
    ("cores", None): "cores, a thread each",
    ("area", None): "MiB of the area",
    ("area", ".new"): "the same, pages new",
}
LOST = {
    "threads": "A = 16 x cores, no pause",
    "manyactive": "A = 256, no pause",
    "working": "A = 16 x cores, 1 us of work",
}


def series(found, kind, new, what):
    """The points of a curve: {x: y} as a list."""
    return [(x, value) for (k, x, n, w), value in found.items() if (k, n, w) == (kind, new, what)]


def cost(found):
    ticks = [1, 4, 16, 64, 256, 1024, 4096]
    x = Axis("threads, virtual cores, or MiB of the area", 1, 4096, ticks, log=True)
    y = Axis("ns of processor time an event", 5, 200, [5, 10, 20, 50, 100, 200], log=True)
    plot = Plot("What an event costs under load (32 bytes)", x, y).axes()
    for colour, ((kind, new), name) in zip(COLOURS, CURVES.items()):
        plot.curve(series(found, kind, new, "cpu"), colour, name)
    return plot


def lost(found):
    ticks = [1, 4, 16, 64, 256, 1000]
    low = 0.0001
    percent = Axis("% of the events dropped (at the bottom: none)", low, 100, decades(low, 100), log=True)
    title = "What is dropped when threads share the cores, with or without work between events"
    plot = Plot(title, Axis("threads", 1, 1000, ticks, log=True), percent).axes()
    for colour, (kind, name) in zip(COLOURS, LOST.items()):
        plot.curve(series(found, kind, None, "dropped"), colour, name)
    return plot


def main():
    smoke = ["--smoke"] if "--smoke" in sys.argv else []
    run = Run("ring-load", needs=())
    matches = filter(None, map(RESULT.match, run.follow([*BENCH, *smoke])))
    found = {(kind, int(x), new, what): float(value) for kind, x, new, what, value in (m.groups() for m in matches)}
    run.keep("cost.svg", cost(found).svg())
    run.keep("lost.svg", lost(found).svg())
    run.close()


main()
