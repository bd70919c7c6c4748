"""Tracers of others, as programs on this machine: LTTng-UST, ftrace, JFR. How they are built, set up and read.

The constraint: nothing of the machine may change beyond the run (a session daemon in namespaces of its own, instances
of ftrace that are removed again), and what a machine lacks is said in one line and left out. It must not judge what
comes back.
"""

import contextlib
import os
import pathlib
import re
import shutil
import struct
import subprocess

from common import ROOT, jdks

PEERS = ROOT / "bench" / "peers"
TRACEFS = pathlib.Path("/sys/kernel/tracing")
LTTNG_PACKAGES = "lttng-tools liblttng-ust-dev babeltrace2"
NAMESPACE = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", str(PEERS / "lttng_namespace.sh")]


def lttng_missing():
    """Why LTTng-UST cannot be used, or None."""
    if os.geteuid() != 0:
        return "LTTng-UST left out: its session needs namespaces of its own, run as root"
    tools = all(shutil.which(tool) for tool in ("lttng", "lttng-sessiond", "babeltrace2", "cc"))
    if not tools or b"lttng/tracepoint.h" in compiled("#include <lttng/tracepoint.h>\n"):
        return f"LTTng-UST left out: apt-get install --no-install-recommends {LTTNG_PACKAGES}"
    if subprocess.run([*NAMESPACE[:-1], "true"], capture_output=True).returncode != 0:
        return "LTTng-UST left out: no new namespaces are allowed here"
    return None


def ftrace_missing():
    """Why ftrace cannot be used, or None."""
    if os.geteuid() != 0:
        return "ftrace left out: run as root"
    if not (TRACEFS / "trace_marker_raw").exists():
        return f"ftrace left out: mount -t tracefs nodev {TRACEFS}, if the kernel has it"
    try:
        with ftrace_instances(1, 64):
            return None
    except OSError as error:
        return f"ftrace left out: {error}"


def compiled(source):
    command = ["cc", "-fsyntax-only", "-x", "c", "-"]
    return subprocess.run(command, input=source.encode(), capture_output=True).stderr


def build(folder, name, *flags):
    """Compiles bench/peers/NAME.c into the folder and gives the path."""
    out = pathlib.Path(folder) / name
    command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{PEERS}", str(PEERS / f"{name}.c"), "-o", str(out)]
    subprocess.run([*command, *flags], check=True)
    return out


def lttng(cores, sub_buffers, sub_buffer, program, read=True, plugin=None):
    """Runs a program under a snapshot session. Gives the event lines, and what the program and LTTng printed."""
    channel = [f"--num-subbuf={sub_buffers}", f"--subbuf-size={sub_buffer}"]
    env = {**os.environ, "READ": "yes" if read else "no"}
    if plugin:
        env["LTTNG_UST_GETCPU_PLUGIN"] = str(plugin)
    command = [*NAMESPACE, str(cores), *channel, "--", *map(str, program)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace", timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"LTTng failed:\n{done.stderr}")
    return done.stdout, done.stderr


def lttng_replay(events, cores, memory, programs):
    """Writes a trace into LTTng-UST; gives its memory and the numbers that came back.

    LTTng's buffers are powers of two: each core has sixteen sub-buffers, together the least that is not below its
    part of the memory. What is kept is judged by the memory it then has.
    """
    sub_buffer = 4096
    while sub_buffer * 16 * cores < memory:
        sub_buffer *= 2
    memory = sub_buffer * 16 * cores
    program, plugin = programs
    lines, _ = lttng(cores, 16, sub_buffer, [program, events, memory], plugin=plugin)
    return memory, [int(n) for n in re.findall(r"\{ number = (\d+),", lines)]


@contextlib.contextmanager
def ftrace_instances(count, kilobytes):
    """So many instances of ftrace with so large a buffer on processor 0, removed at the end."""
    made = []
    try:
        for index in range(count):
            path = TRACEFS / "instances" / f"lookback-{os.getpid()}-{index}"
            path.mkdir()
            made.append(path)
            (path / "buffer_size_kb").write_text("4")
            (path / "per_cpu" / "cpu0" / "buffer_size_kb").write_text(str(kilobytes))
            (path / "tracing_on").write_text("1")
        yield made
    finally:
        for path in made:
            path.rmdir()


def ftrace_replay(events, cores, memory, program):
    """Writes a trace into ftrace; gives its memory and the numbers that came back."""
    numbers = []
    with ftrace_instances(cores, memory // cores // 1024) as instances:
        command = [str(program), str(events), str(memory), *map(str, instances)]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
        for instance in instances:
            with open(instance / "trace", errors="replace") as lines:
                found = (re.search(r": # ([0-9a-f]+) buf:", line) for line in lines)
                numbers += [int(match.group(1), 16) for match in found if match]
    return memory, numbers


def cost_programs(folder, run):
    """{tracer: a function that measures it in so many bursts and gives its lines}, of what this machine has."""
    found = {}
    why = lttng_missing()
    if why:
        run.note(f"# {why}")
    else:
        program = build(folder, "lttng_cost", "-llttng-ust", "-ldl", "-lm", "-pthread")
        # 12 MiB in all, as in the replay, in the powers of two that LTTng has: sixteen sub-buffers a processor.
        found["lttng"] = lambda bursts: lttng(0, 16, "512K", [program, bursts], read=False)[1]
    why = ftrace_missing()
    if why:
        run.note(f"# {why}")
    else:
        marker = build(folder, "ftrace_cost", "-lm", "-pthread")
        found["ftrace"] = lambda bursts: ftrace_cost(marker, bursts)
    found.update(jfr_programs(folder, run))
    return {tracer: lambda bursts, f=f: f(bursts).splitlines() for tracer, f in found.items()}


def ftrace_cost(program, bursts):
    with ftrace_instances(1, 6144) as (instance,):
        (instance / "buffer_size_kb").write_text("6144")
        return output([str(program), str(bursts), str(instance)])


def jfr_programs(folder, run):
    """The same for JFR on each JDK at hand that has it."""
    compiler = shutil.which(os.path.join(os.environ.get("JAVA_HOME", ""), "bin", "javac")) or shutil.which("javac")
    if not compiler:
        run.note("# JFR left out: no javac")
        return {}
    subprocess.run([compiler, "--release", "17", "-d", str(folder), str(PEERS / "JfrCost.java")], check=True)
    found = {}
    for jdk, executable in jdks().items():
        if "jdk.jfr" not in output([executable, "--list-modules"]):
            run.note(f"# JFR left out on {jdk}: its runtime has no module jdk.jfr")
            continue
        name = jdk.replace("jdk", "jfr")
        command = [executable, "-cp", str(folder), "JfrCost", name]
        found[name] = lambda bursts, command=command: output([*command, str(bursts)])
    return found


def output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout


def write_kept(path, memory, numbers):
    """What `replay --judge` reads."""
    path.write_bytes(struct.pack(f"<{len(numbers) + 1}Q", memory, *numbers))
