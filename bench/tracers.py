"""Tracers of others, as programs on this machine: LTTng-UST, ftrace. How they are built, set up and read.

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

from common import ROOT

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
    return None


def ftrace_missing():
    """Why ftrace cannot be used, or None."""
    if os.geteuid() != 0:
        return "ftrace left out: run as root"
    if not (TRACEFS / "trace_marker_raw").exists():
        return f"ftrace left out: mount -t tracefs nodev {TRACEFS}, if the kernel has it"
    return None


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


def write_kept(path, memory, numbers):
    """What `replay --judge` reads."""
    path.write_bytes(struct.pack(f"<{len(numbers) + 1}Q", memory, *numbers))
