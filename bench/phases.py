"""How soon Lookback adapts to a program's next phase: programs/Phases.java, three floods of calls in a row, at a first start.

Each second the program is asked what tracing costs (`lookback status --json`): its records and what Lookback's own threads take,
as a share of the program's processor time. A phase is adapted to when that, in the mean of three seconds, is within the budget
for good; the first phase is a start, and not counted. "slower" is how many calls fewer than in the program without Lookback, in
the first third of a phase and after it; both are asked as often.

Variants run in turn, each time in a fresh JVM; --rounds N sets how many of each (3), --threads N how many threads the program
has (8), --seconds N how long a phase is (30).
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

from common import AGENT, TARGET, Run, compiled, jdks, median, option

LOOKBACK = TARGET / "lookback"
PHASES = 3


def costs(pid, cores):
    """What tracing costs a program now that keeps so many cores busy, and how many methods are dropped; none where nothing is traced."""
    done = subprocess.run([LOOKBACK, "status", str(pid), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return None
    governing = json.loads(done.stdout)["governing"]
    own = governing["own_percent_of_core"] / cores
    return governing["cost_percent"] + own, governing["budget_percent"], len(governing["dropped"])


def execution(java, directory, threads, seconds, traced):
    """Runs the program; gives for each phase what was told while it ran, by second, and its speeds."""
    agent = [f"-agentpath:{AGENT}=learned=off,quiet=on"] if traced else []
    command = [java, *agent, "-cp", directory, "Phases", str(threads), str(seconds)]
    told, speeds, begun = [[] for _ in range(PHASES)], [], [0.0, -1]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:

        def ask():
            while program.poll() is None:
                time.sleep(1)
                now, (since, phase) = time.monotonic(), begun
                heard = costs(program.pid, min(threads, os.cpu_count()))
                # Not what was asked before a phase and told in it.
                if heard and phase >= 0 and begun[1] == phase:
                    told[phase].append((now - since, *heard))

        asking = threading.Thread(target=ask)
        asking.start()
        for line in program.stdout:
            if match := re.match(r"phase (\d+)", line):
                begun[:] = [time.monotonic(), int(match.group(1))]
            elif match := re.match(r"did \d+ ([\d.]+) ([\d.]+)", line):
                speeds.append([float(speed) for speed in match.groups()])
        asking.join()
    if program.returncode != 0 or len(speeds) != PHASES:
        sys.exit(f"{' '.join(map(str, command))} failed with {program.returncode}")
    if traced and not all(told):
        sys.exit(f"{' '.join(map(str, command))} did not tell in each phase what tracing costs")
    return told, speeds


def windows(told):
    """The means of each three costs in a row, with the second of the last."""
    return [(c[0], (a[1] + b[1] + c[1]) / 3) for a, b, c in zip(told, told[1:], told[2:])]


def adapted(told):
    """After how many seconds of the phase the cost was within the budget for good."""
    return max([second for second, cost in windows(told) if cost > told[0][2]], default=0.0)


def main():
    smoke = "--smoke" in sys.argv
    threads = option("--threads", 8)
    rounds, seconds = (1, 3) if smoke else (option("--rounds", 3), option("--seconds", 30))
    run = Run("phases", needs=(AGENT, LOOKBACK))
    with tempfile.TemporaryDirectory() as directory:
        compiled("Phases", directory, jdks().values())
        for jdk, java in jdks().items():
            latest, most, slower = 0.0, 0.0, {"first": [], "later": []}
            for number in range(rounds):
                _, bare = execution(java, directory, threads, seconds, traced=False)
                told, speeds = execution(java, directory, threads, seconds, traced=True)
                for phase in range(PHASES):
                    texts = [f"{second:.0f}:{cost:.1f}%/{dropped}" for second, cost, _, dropped in told[phase]]
                    run.note(f"raw {jdk} {number} phase {phase} second:cost/dropped " + " ".join(texts))
                    run.note(f"raw {jdk} {number} phase {phase} bare {bare[phase]} traced {speeds[phase]}")
                    if phase > 0:
                        latest = max(latest, adapted(told[phase]))
                        most = max([most] + [cost for second, cost in windows(told[phase]) if second > 10])
                        for part, name in enumerate(slower):
                            slower[name].append((bare[phase][part] / speeds[phase][part] - 1) * 100)
            run.result(f"phases.adapted.{jdk}", latest, "s")
            run.result(f"phases.most.after10s.{jdk}", most, "%")
            for name, values in slower.items():
                run.result(f"phases.slower.{name}.{jdk}", median(values), "%")
    run.close()


main()
