"""How alike calling context trees are: degree of overlap and hot-edge coverage.

Source: "Fast Profiling in the HotSpot Java VM with Incremental Stack Tracing and Partial Safepoints" (Linz 2014), section 5.3,
figures 5.5 and 5.6. An edge of a tree is a calling context, weighed by its own samples and those of what it calls; a tree is
a dictionary of relative weights, which sum to 1.
"""

import collections

# Of the heaviest edge: what counts as hot (figure 5.6).
HOT = 0.1


def tree(lines):
    """The tree of collapsed stacks.

    >>> sorted(tree(["t;a;b 3", "t;a 1", "u;a;b 4"]).items())
    [(('a',), 0.5333333333333333), (('a', 'b'), 0.4666666666666667)]
    >>> tree([])
    {}
    """
    weights = collections.Counter()
    for line in lines:
        stack, _, n = line.rpartition(" ")
        # Without the thread: pools name theirs anew.
        frames = tuple(stable(frame) for frame in stack.split(";")[1:])
        for depth in range(1, len(frames) + 1):
            weights[frames[:depth]] += int(n)
    return relative(weights)


def relative(weights):
    """Weights as shares of their sum."""
    whole = sum(weights.values())
    return {edge: weight / whole for edge, weight in weights.items()}


def merged(trees):
    """The mean of several trees.

    >>> sorted(merged([{"a": 1.0}, {"a": 0.5, "b": 0.5}]).items())
    [('a', 0.75), ('b', 0.25)]
    """
    weights = collections.Counter()
    for one in trees:
        weights.update(one)
    return relative(weights)


def stable(frame):
    """A method's name without what is another in each run, or in each profiler: slashes, and the numbers of classes that are made
    while it runs.

    >>> stable("a.B$$Lambda$14.0x00007f12.run"), stable("a.B$$Lambda.0x1f.run"), stable("a/B.run")
    ('a.B$$Lambda.run', 'a.B$$Lambda.run', 'a.B.run')
    """
    head, mark, tail = frame.replace("/", ".").partition("$$Lambda")
    return head + mark + "." + tail.rsplit(".", 1)[-1] if mark else head


def overlap(one, other):
    """Degree of overlap of two trees, 0 to 1 (figure 5.5).

    >>> overlap({"a": 0.5, "b": 0.5}, {"a": 0.75, "c": 0.25})
    0.5
    """
    return sum(min(weight, other.get(edge, 0)) for edge, weight in one.items())


def hot_cover(one, other):
    """The share of the hot edges of `other` that are hot in `one`, 0 to 1 (figure 5.6).

    >>> hot_cover({"a": 0.9, "b": 0.1}, {"a": 0.5, "c": 0.5})
    0.5
    """
    wanted = hot(other)
    return len(hot(one) & wanted) / len(wanted) if wanted else 1.0


def hot(edges):
    """The edges of at least HOT of the heaviest one's weight."""
    least = HOT * max(edges.values(), default=0)
    return {edge for edge, weight in edges.items() if weight >= least}
