"""The closing lines of the overhead benchmark: overhead.py [--all] LOOKBACK KEPT RESULTS...

RESULTS are the directories of results of its experiments, KEPT the directory in which each one's report is kept below its
name. Each figure is the lab's own, of CPU time (and of wall time where the name says so): the ratio to the bare program in
the same blocks, as a change in percent, with the ends of its bootstrap interval. Of several JDKs the worse one counts. Where
requests were timed, their latencies are told as well, with the interval of `lookback lab compare`.

The constraint that shaped it: nothing is left out silently. What could not be compared is told on standard error with
its reason, and with `--all` is a failure; what was never measured is a missing line and never a zero.
"""

import json
import subprocess
import sys
from pathlib import Path

# Configurations of the experiment and what they are called in the lines; peers keep their names.
STATES = {
    "lookback-off": "off",
    "lookback-learned": "default",
    "lookback": "first30",
    "lookback-second": "second30",
    "lookback-all": "all",
}
SHARE = "mean-traced.share."
# What is told, and the end of its lines' names.
METRICS = (("wall", ".wall"), ("cpu", ""))
LATENCIES = ("latency.p50", "latency.p99", "latency.max")


def state(configuration):
    """The state of a configuration.

    >>> state("g1|lookback-learned"), state("25|g1|lookback"), state("g1|jfr-trace")
    ('default', 'first30', 'jfr-trace')
    """
    modifier = configuration.split("|")[-1]
    return STATES.get(modifier, modifier)


def percent(ratio):
    """A ratio as a change in percent."""
    return (ratio - 1) * 100


def worse(rows):
    """Of rows (key, estimate) the worst estimate of each key, in the order of keys.

    >>> worse([("h2", {"value": 1.1}), ("fop", {"value": 1.0}), ("h2", {"value": 1.2})])
    {'h2': {'value': 1.2}, 'fop': {'value': 1.0}}
    """
    worst = {}
    for key, estimate in rows:
        if key not in worst or estimate["value"] > worst[key]["value"]:
            worst[key] = estimate
    return worst


def lines_of(name, estimate):
    """The lines of an estimate: its value and the ends of its interval.

    >>> list(lines_of("overhead.h2.off", {"value": 0.9, "interval": None}))
    ['result overhead.h2.off.pct -10.00 %']
    >>> list(lines_of("x", {"value": 2.0, "interval": {"low": 1.5, "high": 3.0}}))
    ['result x.pct 100.00 %', 'result x.pct.low 50.00 %', 'result x.pct.high 200.00 %']
    """
    yield f"result {name}.pct {percent(estimate['value']):.2f} %"
    for end in ("low", "high") if estimate["interval"] else ():
        yield f"result {name}.pct.{end} {percent(estimate['interval'][end]):.2f} %"


def overheads(told, suffix):
    """The lines of all overheads of a metric in what the lab told of experiments, and the worst of the default state (none
    without it).

    >>> def one(workload, configuration, value):
    ...     name = {"workload": workload, "configuration": configuration}
    ...     return {"name": name, "by_bootstrap": {"value": value, "interval": None}}
    >>> def mean(label, value):
    ...     return {"label": label, "geometric_mean": {"value": value, "interval": None}}
    >>> on_25 = {"overheads": [one("h2", "g1|lookback-learned", 1.02), one("fop", "g1|lookback-learned", 1.04),
    ...                        one("h2", "g1|lookback", 1.5), one("fop", "g1|lookback-all", 3.0)],
    ...          "summaries": [mean("25|g1|lookback-off", 1.01)]}
    >>> on_17 = {"overheads": [one("h2", "g1|lookback-learned", 1.03)], "summaries": []}
    >>> lines, worst = overheads([on_25, on_17], ".wall")
    >>> lines[0], lines[4], round(worst, 9)
    ('result overhead.h2.default.wall.pct 3.00 %', 'result overhead.geomean.off.wall.pct 1.00 %', 4.0)
    >>> overheads([{"overheads": [], "summaries": []}], "")
    ([], None)
    """
    rows = worse(
        ((one["name"]["workload"], state(one["name"]["configuration"])), one["by_bootstrap"])
        for tracers in told
        for one in tracers["overheads"]
    )
    means = worse((state(one["label"]), one["geometric_mean"]) for tracers in told for one in tracers["summaries"])
    lines = []
    for (workload, name), estimate in rows.items():
        lines += lines_of(f"overhead.{workload}.{name}{suffix}", estimate)
    for name, estimate in means.items():
        lines += lines_of(f"overhead.geomean.{name}{suffix}", estimate)
    default = [estimate["value"] for (_, name), estimate in rows.items() if name == "default"]
    return lines, percent(max(default)) if default else None


def shares(lines):
    """The shares of traced methods among the figures of a report, by what they are of.

    >>> shares(["# title", "result mean-traced.share.h2-share.25 96.5 %", "result mean-traced.share.h2-share.25.low 95 %",
    ...         "result mean-cpu.h2.25-g1-bare 5 ns"])
    {'h2-share.25': 96.5}
    """
    found = {}
    for line in lines:
        words = line.split()
        if len(words) == 4 and words[0] == "result" and words[1].startswith(SHARE):
            name = words[1].removeprefix(SHARE)
            if not name.endswith((".low", ".high")):
                found[name] = float(words[2])
    return found


def told_by(lookback, results, metric):
    """What the lab tells of tracers in a directory of results."""
    answer = subprocess.run(
        [lookback, "lab", "lbo", results, "--metric", metric, "--distill", "pauses", "--json"],
        check=True, stdout=subprocess.PIPE, text=True,
    )
    return json.loads(answer.stdout)[0]["tracers"]


def latencies(compared, metric):
    """The lines of a latency, of comparisons of the bare program with the default state.

    >>> row = {"workload": "tomcat", "difference": {"ratio": {"value": 1.02, "interval": None}}}
    >>> latencies([{"rows": [row]}], "latency.p99")
    ['result overhead.tomcat.default.latency.p99.pct 2.00 %']
    """
    worst = worse((row["workload"], row["difference"]["ratio"]) for one in compared for row in one["rows"])
    return [
        line
        for workload, ratio in worst.items()
        for line in lines_of(f"overhead.{workload}.default.{metric}", ratio)
    ]


def compared(lookback, results, metric):
    """What the lab tells of the default state beside the bare program."""
    answer = subprocess.run(
        [lookback, "lab", "compare", results, "g1|bare", "g1|lookback-learned", "--metric", metric, "--json"],
        check=True, stdout=subprocess.PIPE, text=True,
    )
    return json.loads(answer.stdout)


def measured(planned, records):
    """The metrics of a plan that an iteration has, and the states that were measured, of the records of results.

    >>> one = {"configuration": "g1|bare", "iterations": [{"metrics": {"cpu": 1, "pauses": 0}}]}
    >>> measured(["cpu", "latency.p50"], [one])
    ({'cpu'}, {'bare'})
    """
    metrics, states = set(), set()
    for record in records:
        states.add(state(record["configuration"]))
        metrics.update(name for one in record["iterations"] for name in one["metrics"])
    return metrics.intersection(planned), states


def about(results):
    """What an experiment is about: its `measured` metrics and states."""
    planned = json.loads(Path(results, "plan.json").read_text(encoding="utf-8"))["metrics"]
    with open(Path(results, "results.jsonl"), encoding="utf-8") as lines:
        return measured(planned, map(json.loads, lines))


def main(*arguments):
    """Prints all lines."""
    is_strict = arguments[:1] == ("--all",)
    lookback, kept, *directories = arguments[1:] if is_strict else arguments
    of = {results: about(results) for results in directories}
    lines, left_out, worst = [], {}, None
    for metric, suffix in METRICS:
        told = [told_by(lookback, results, metric) for results, (metrics, _) in of.items() if metric in metrics]
        more, worst = overheads(told, suffix)
        lines += more
        left_out.update((json.dumps(name), (name, why)) for tracers in told for name, why in tracers["left_out"])
    for metric in LATENCIES:
        timed = [results for results, (metrics, states) in of.items() if metric in metrics and "default" in states]
        lines += latencies([compared(lookback, results, metric) for results in timed], metric)
    print(*lines, sep="\n")
    found = {}
    for results in directories:
        for report in Path(kept, Path(results).name).glob("*/results.txt"):
            found |= shares(report.read_text(encoding="utf-8").splitlines())
    for name, why in left_out.values():
        print(f"not compared: {name['workload']} {name['jdk']}|{name['configuration']}: {why}", file=sys.stderr)
    for name, value in found.items():
        print(f"result traced.share.{name} {value:.2f} %")
    if worst is not None:
        print(f"result overhead.worst.default.pct {worst:.2f} %")
    if found:
        print(f"result traced.share {sum(found.values()) / len(found):.2f} %")
    # A benchmark that measured nothing of what it is for has failed.
    return 0 if found and worst is not None and not (is_strict and left_out) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
