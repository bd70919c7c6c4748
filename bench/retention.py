"""The replay's results as the paper shows them: its table 2 in Markdown, its figures 1 and 10 as SVG.

The constraint: it only arranges lines that the replay has printed; a tracer that was left out has no row.
"""

import collections
import math
import re

from plots import COLOURS, Axis, Plot, strips

RESULT = re.compile(
    r"result replay\.(\w+)\.([\w-]+?)(?:\.stalls([\d.]+?))?(\.live|\.salvaged)?"
    r"\.(latest(?:\.least|\.median)?|loss|fragments) (\S+)"
)
COVERAGE = re.compile(r"coverage replay\.(\w+)\.([\w-]+) (.*)")
FACTORS = (1, 2, 4, 8, 16, 32, 64)
OURS = "lookback-16x"
NAMES = {
    OURS: "this ring (A = 16 x cores)",
    "model-global": "one global buffer, model",
    "lttng": "LTTng-UST",
    "ftrace": "ftrace",
    "model-core-16": "16 buffers a core, model",
    "model-core-pages": "pages a core, model",
    "model-thread": "a buffer a thread, model",
}
# The paper shows one real trace with skewed cores; this is the one with its twelve cores.
SHOWN = "derived_composite12_25k"
STALLS = ("0.01", "0.1", "1")


def parse(lines):
    """{(tracer, stalls, reading): {trace: {what: value}}}"""
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    for match in filter(None, map(RESULT.match, lines)):
        trace, tracer, stalls, reading, what, value = match.groups()
        found[tracer, stalls or "0", reading or ""][trace][what] = float(value)
    return found


def geometric(values):
    """The geometric mean; a value of 0 counts as the least that is printed."""
    return math.exp(sum(math.log(max(value, 0.05)) for value in values) / len(values))


def table(found, stalls, reading=""):
    """Table 2 for one share of stalls."""
    traces = list(found[OURS, stalls, reading])
    head = ["", "tracer", *traces]
    rows = [head, ["---"] * 2 + ["---:"] * len(traces)]
    percent = {"latest": "{:.1f} %", "latest.median": "{:.1f} %", "latest.least": "{:.1f} %"}
    digits = {**percent, "loss": "{:.4f}", "fragments": "{:,.0f}"}
    for what, form in digits.items():
        for tracer, name in NAMES.items():
            results = found.get((tracer, stalls, reading))
            if results:
                values = [results[trace][what] for trace in traces if what in results.get(trace, {})]
                if len(values) < len(traces):
                    continue
                cells = [form.format(v) for v in values]
                rows.append([what, name, *cells, *([form.format(geometric(values))] if what == "latest" else [""])])
    head.append("geometric mean")
    rows[1].append("---:")
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def files(lines):
    """Table and figures: the text of each file by its name."""
    found = parse(lines)
    text = "Without stalls (the paper's core-level replay):\n\n" + table(found, "0")
    for stalls in STALLS:
        text += f"\nWith {stalls} % of events stalled, read when all writers are back:\n\n" + table(found, stalls)
    plots = {"figure1.svg": figure1(lines), "figure10.svg": figure10(found)}
    return {"table2.md": text, **{name: plot.svg() for name, plot in plots.items() if plot}}


def figure1(lines):
    """Which of the last 12 MiB of events each tracer has kept."""
    kept = {}
    for match in filter(None, map(COVERAGE.match, lines)):
        trace, tracer, shares = match.groups()
        if trace == SHOWN and tracer in NAMES:
            kept[tracer] = [float(share) / 100 for share in shares.split()]
    rows = [(name, kept[tracer]) for tracer, name in NAMES.items() if tracer in kept]
    ticks = range(0, 13, 2)
    ago = [str(12 - tick) for tick in ticks]
    x = Axis("MiB of events written since, newest to the right", 0, 12, ticks, names=ago)
    return strips("Which of the last 12 MiB of events are kept (12 cores)", x, rows) if rows else None


def figure10(found):
    """Latest fragment by number of active blocks, with and without stalls; a dot is a trace."""
    x = Axis("active blocks, in multiples of the cores", 0.7, 90, FACTORS, log=True)
    y = Axis("% of the memory", 0, 100, range(0, 101, 20))
    plot = Plot("Latest fragment of this ring by number of active blocks", x, y).axes()
    names = {"0": "no stalls", **{stalls: f"{stalls} % of events stalled" for stalls in STALLS}}
    for index, (stalls, name) in enumerate(names.items()):
        for factor in FACTORS:
            results = found.get((f"lookback-{factor}x", stalls, ""))
            if results:
                values = [result["latest"] for result in results.values()]
                plot.box(factor, 16 * index - 24, values, COLOURS[index])
        plot.name(COLOURS[index], name)
    return plot
