# The program of the workload "jython". Leaves in `result` a text that tells everything it computed from the
# global `item`. Must not import anything, read the clock or random numbers.


class Tree(object):
    def __init__(self, left, right):
        self.left = left
        self.right = right

    def count(self):
        return 1 + (self.left.count() if self.left else 0) + (self.right.count() if self.right else 0)


def tree(depth):
    return Tree(None, None) if depth == 0 else Tree(tree(depth - 1), tree(depth - 1))


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))


def numbers(count, state):
    for _ in xrange(count):
        state = (state * 1103515245 + 12345) % 2147483648
        yield state % 100000


def words(count, seed):
    return ["w%x%s" % (n, "-x" if n % 7 == 0 else "") for n in numbers(count, seed)]


def digest(text):
    value = 7
    for letter in text:
        value = (value * 31 + ord(letter)) % 1000000007
    return value


def mix(seed):
    counts = {}
    for word in words(2000, seed):
        key = word[:3]
        counts[key] = counts.get(key, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    text = ",".join("%s=%d" % pair for pair in ordered)
    ranks = [len(filter(lambda n: n < limit, numbers(1000, seed))) for limit in (100, 10000, 50000)]
    return [tree(11).count(), fib(17), ackermann(2, 40 + seed % 5), len(ordered), digest(text), sum(ranks)]


result = " ".join(str(part) for part in mix(item + 1))
