"""How alike the calling context trees of several profiles are: sampling.py MANIFEST

MANIFEST has a line a profile: workload, engine, number of the repetition, the file of collapsed stacks, and the JSON that
`lookback info --json` tells of it; separated by tabs. Prints `result` lines:

  sampling.ENGINE.INTERVAL.latency.us          median of a request, the median over the workloads
  sampling.ENGINE.INTERVAL.latency.worst.us    the same of the worst workload
  sampling.ENGINE.INTERVAL.overlap.ENGINE2.pct degree of overlap with another engine's profile of the same program
  sampling.ENGINE.INTERVAL.hot.ENGINE2.pct     hot-edge coverage of it
  sampling.ENGINE.INTERVAL.stability.pct       degree of overlap of two profiles by the same engine

Source: the thesis (Linz 2014), section 5.3, figures 5.5 to 5.9; an edge of a tree is a calling context, weighed by its own samples and
those of what it calls.
"""

import collections
import json
import statistics
import sys

# Of the heaviest edge: what counts as hot (the thesis, figure 5.6).
HOT = 0.1


def tree(lines):
    """The weights of all edges of a calling context tree, relative to all of them.

    >>> sorted(tree(["t;a;b 3", "t;a 1", "u;a;b 4"]).items())
    [(('a',), 0.5333333333333333), (('a', 'b'), 0.4666666666666667)]
    """
    weights = collections.Counter()
    for line in lines:
        stack, _, n = line.rpartition(" ")
        # Without the thread: pools name theirs anew.
        frames = tuple(stable(frame) for frame in stack.split(";")[1:])
        for depth in range(1, len(frames) + 1):
            weights[frames[:depth]] += int(n)
    whole = sum(weights.values())
    return {edge: n / whole for edge, n in weights.items()}


def stable(frame):
    """A method's name without what is another in each run: the numbers of classes that are made while it runs.

    >>> stable("a.B$$Lambda$14.0x00007f12.run"), stable("a.B$$Lambda.0x1f.run"), stable("a.B.run")
    ('a.B$$Lambda.run', 'a.B$$Lambda.run', 'a.B.run')
    """
    head, mark, tail = frame.partition("$$Lambda")
    return head + mark + "." + tail.rsplit(".", 1)[-1] if mark else frame


def overlap(one, other):
    """Degree of overlap of two trees, 0 to 1 (figure 5.5).

    >>> overlap({"a": 0.5, "b": 0.5}, {"a": 0.75, "c": 0.25})
    0.5
    """
    return sum(min(weight, other.get(edge, 0)) for edge, weight in one.items())


def hot_cover(one, other):
    """The share of the hot edges of `other` that are hot in `one` (figure 5.6).

    >>> hot_cover({"a": 0.9, "b": 0.1}, {"a": 0.5, "c": 0.5})
    0.5
    """
    def hot(edges):
        least = HOT * max(edges.values(), default=0)
        return {edge for edge, weight in edges.items() if weight >= least}
    wanted = hot(other)
    return len(hot(one) & wanted) / len(wanted) if wanted else 1.0


def interval(nanos):
    """
    >>> interval(10_000_000), interval(100_000)
    ('10ms', '0.1ms')
    """
    return f"{nanos / 1e6:g}ms"


def main(manifest):
    trees, latencies = {}, collections.defaultdict(dict)
    for row in open(manifest, encoding="utf-8"):
        workload, engine, repetition, collapsed, facts = row.rstrip("\n").split("\t")
        with open(facts, encoding="utf-8") as file:
            sampling = json.load(file)["manifest"]["sampling"]
        key = (engine, interval(sampling["interval"]))
        with open(collapsed, encoding="utf-8") as file:
            trees[key, workload, repetition] = tree(file)
        latencies[key].setdefault(workload, []).append(sampling["latency"][1] / 1e3)
    for (engine, every), of in sorted(latencies.items()):
        medians = [statistics.median(values) for values in of.values()]
        print(f"result sampling.{engine}.{every}.latency.us {statistics.median(medians):.1f} us")
        print(f"result sampling.{engine}.{every}.latency.worst.us {max(medians):.1f} us")
    found = collections.defaultdict(list)
    for (key, workload, repetition), one in trees.items():
        for (key2, workload2, repetition2), other in trees.items():
            if workload != workload2 or key[1] != key2[1] or not one or not other:
                continue
            name = "sampling." + ".".join(key)
            if key == key2 and repetition < repetition2:
                found[f"{name}.stability.pct"].append(overlap(one, other))
            elif key != key2:
                found[f"{name}.overlap.{key2[0]}.pct"].append(overlap(one, other))
                found[f"{name}.hot.{key2[0]}.pct"].append(hot_cover(one, other))
    for name, values in sorted(found.items()):
        print(f"result {name} {100 * statistics.median(values):.1f} %")


if __name__ == "__main__":
    main(sys.argv[1])
