"""What waits cost: programs/Handoff.java, pairs of threads that hand a turn to and fro and do nothing else.

Each handoff is a wait of one thread, with an exact time at both ends: "park" by LockSupport, which has trace points; "monitor" by
Object.wait, of which the VM tells by events. A figure is the processor time that a handoff takes longer than in the program without
Lookback: the median of --turns N (20), in each of which one process of both runs for a quarter of a second and is then stopped, so
that a machine that is slower for a while is slower for both; and of --rounds N (5) with fresh processes, since two processes come to
different code, and to another order of their threads. "least" and "most" are the rounds' own. --pairs N sets how many pairs of
threads (8).
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

from common import AGENT, Run, compiled, jdks, median, option

KINDS = ("park", "monitor")
# Until the compilers are done, and how long a turn takes, seconds.
WARM = 3.0
TURN = 0.25


def started(java, directory, kind, pairs, traced):
    agent = [f"-agentpath:{AGENT}=learned=off,quiet=on"] if traced else []
    command = [java, *agent, "-XX:+UseSerialGC", "-cp", directory, "Handoff", kind, str(pairs)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def asked(program):
    """Handoffs and nanoseconds of processor time until now."""
    program.stdin.write("\n")
    program.stdin.flush()
    line = program.stdout.readline()
    if not line:
        sys.exit(f"{' '.join(program.args)} failed with {program.wait()}")
    return [int(number) for number in line.split()]


def turn(program, seconds):
    """Lets a program that is stopped run for so long; gives the nanoseconds of processor time of a handoff."""
    os.kill(program.pid, signal.SIGCONT)
    done, taken = asked(program)
    time.sleep(seconds)
    more, longer = asked(program)
    os.kill(program.pid, signal.SIGSTOP)
    return (longer - taken) / max(1, more - done)


def measured(java, directory, kind, pairs, turns):
    """For each turn of a fresh process without Lookback and one with it, what a handoff of both takes."""
    programs = [started(java, directory, kind, pairs, traced) for traced in (False, True)]
    try:
        for program in programs:
            asked(program)
            turn(program, WARM)
        return [[turn(program, TURN) for program in programs] for _ in range(turns)]
    finally:
        for program in programs:
            program.kill()
            program.wait()


def main():
    smoke = "--smoke" in sys.argv
    rounds, turns = (1, 4) if smoke else (option("--rounds", 5), option("--turns", 20))
    pairs = option("--pairs", 8)
    run = Run("waits", needs=(AGENT,))
    with tempfile.TemporaryDirectory() as directory:
        compiled("Handoff", directory, jdks().values())
        for jdk, java in jdks().items():
            for kind in KINDS:
                bare, more = [], []
                for number in range(rounds):
                    taken = measured(java, directory, kind, pairs, turns)
                    for name, values in zip(("bare", "traced"), zip(*taken)):
                        texts = " ".join(f"{value:.0f}" for value in values)
                        run.note(f"raw {jdk} {kind} {number} {name} ns a handoff: {texts}")
                    bare.append(median(first for first, _ in taken))
                    more.append(median(second - first for first, second in taken))
                run.result(f"waits.{kind}.bare.{jdk}", median(bare), "ns")
                run.result(f"waits.{kind}.{jdk}", median(more), "ns")
                run.result(f"waits.{kind}.least.{jdk}", min(more), "ns")
                run.result(f"waits.{kind}.most.{jdk}", max(more), "ns")
    run.close()


main()
