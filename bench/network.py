#!/usr/bin/env python3
"""bench/network.py [--steps N] [--preset NAME]: compares the cost model of docs/background/scaling.md with measurements.

Two network namespaces act as two machines with one rank each, connected by a wire with a delay and a rate. The wire is
`tc netem` if the kernel has it, otherwise a process that delays packets. Prints the seconds of a training step for each
wire, measured and predicted. Needs root, iproute2 and Open MPI, and an idle machine.
"""
import argparse
import collections
import ctypes
import fcntl
import json
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

NAMES = ("fovea0", "fovea1")
WIRES = ((0, 10000), (1, 10000), (5, 10000), (20, 10000), (0, 1000), (0, 200), (5, 200))  # ms one way, Mbit/s
DELAYS = 11  # of the model: one-way delays in a row that a step waits for
MTU = 9000


def ip(*words, check=True):
    return subprocess.run(("ip",) + words, check=check, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def enter(namespace):
    if ctypes.CDLL(None, use_errno=True).setns(namespace, 0x40000000) != 0:  # CLONE_NEWNET
        raise OSError(ctypes.get_errno(), "setns")


class Wire:
    """Two ends of a wire, one in each namespace; packets arrive late and at most so many bits a second."""

    def __init__(self):
        self.delay, self.rate, self.ends = 0.0, 1e10, []
        for name in NAMES:
            ip("netns", "del", name, check=False)
            ip("netns", "add", name)
        self.netem = self.make_veth()
        if not self.netem:
            self.make_taps()
        for i, name in enumerate(NAMES):
            ip("-n", name, "addr", "add", f"10.77.0.{i + 1}/24", "dev", name)
            ip("-n", name, "link", "set", name, "mtu", str(MTU), "up")
            ip("-n", name, "link", "set", "lo", "up")
        for source, target in (self.ends, self.ends[::-1]) if self.ends else ():
            threading.Thread(target=self.carry, args=(source, target), daemon=True).start()

    def make_veth(self):
        ip("link", "add", NAMES[0], "netns", NAMES[0], "type", "veth", "peer", "name", NAMES[1], "netns", NAMES[1])
        if self.shape("netem", "delay", "1ms"):
            return True
        ip("-n", NAMES[0], "link", "del", NAMES[0])
        return False

    def shape(self, *how):
        return all(
            subprocess.run(("tc", "-n", name, "qdisc", "replace", "dev", name, "root") + how, stderr=subprocess.DEVNULL)
            .returncode == 0 for name in NAMES)

    def make_taps(self):
        here = os.open("/proc/self/ns/net", os.O_RDONLY)
        for name in NAMES:
            enter(os.open(f"/run/netns/{name}", os.O_RDONLY))
            end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(end, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x1002))  # TUNSETIFF: a tap, no header
            enter(here)
            self.ends.append(end)

    def carry(self, source, target):
        waiting, free = collections.deque(), 0.0  # packets and when they arrive; when the wire has sent the last
        while True:
            left = waiting[0][0] - time.monotonic() if waiting else 1.0
            if left > 0:
                select.select([source], [], [], left)
            try:
                for _ in range(64):
                    packet = os.read(source, MTU + 100)
                    free = max(free, time.monotonic()) + 8 * len(packet) / self.rate
                    waiting.append((free + self.delay, packet))
            except BlockingIOError:
                pass
            while waiting and waiting[0][0] <= time.monotonic():
                try:
                    os.write(target, waiting.popleft()[1])
                except OSError:
                    pass  # as a full queue does

    def set(self, milliseconds, mbit):
        if self.netem:
            self.shape("netem", "delay", f"{milliseconds}ms", "rate", f"{mbit}mbit", "limit", "100000")
        self.delay, self.rate = milliseconds / 1000, mbit * 1e6

    def remove(self):
        for name in NAMES:
            ip("netns", "del", name, check=False)


def seconds_of_a_step(fovea, folder, preset, steps, agent):
    command = (
        f"hostname {NAMES[0]}; exec mpirun --allow-run-as-root --host 10.77.0.1,10.77.0.2 -n 2 --mca plm_rsh_agent {agent} "
        "--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 "
        f"{fovea} train --model {folder}/m --overwrite --source {folder}/source --target {folder}/target "
        f"--valid-source {folder}/valid.source --valid-target {folder}/valid.target --preset {preset} --tokenizer word "
        f"--vocab 8000 --batch-tokens 2048 --max-steps {steps} --report-every {steps // 2} --checkpoint-every 100000 "
        "--replicas 2 --threads 1")
    done = subprocess.run(("ip", "netns", "exec", NAMES[0], "unshare", "-u", "sh", "-c", command), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"bench/network.py: {done.stdout}")
    reports = [e for e in map(json.loads, open(f"{folder}/m/log.jsonl")) if "tokens_per_second" in e]
    seconds = (reports[-1]["tokens"] - reports[-2]["tokens"]) / reports[-1]["tokens_per_second"] / (steps // 2)
    return seconds, reports[-1]["sum_share"], int(re.search(r"(\d+) weights", done.stdout).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--preset", default="transformer-tiny")
    o = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    fovea = os.path.abspath(os.environ.get("FOVEA", os.path.join(root, "build/release/fovea")))
    folder = tempfile.mkdtemp()
    wire = Wire()
    try:
        agent = os.path.join(folder, "agent")
        with open(agent, "w") as out:  # in place of ssh: HOST COMMAND…
            out.write('#!/bin/sh\nn=$((${1##*.} - 1))\nshift\n'
                      'exec ip netns exec fovea$n unshare -u sh -c "hostname fovea$n; $*"\n')
        os.chmod(agent, 0o755)
        seed = 7
        for name in ("source", "target"):
            with open(f"{folder}/{name}", "w") as out, open(f"{folder}/valid.{name}", "w") as valid:
                for line in range(6000):
                    words = []
                    for _ in range(12 + line % 4):
                        seed = (seed * 1103515245 + 12345) % (1 << 31)
                        words.append(f"{name[0]}{(seed >> 8) % 8000}")
                    out.write(" ".join(words) + "\n")
                    if line < 20:
                        valid.write(" ".join(words) + "\n")
        print(f"wire: {'tc netem' if wire.netem else 'a process that hands packets on'}")
        print("| delay, ms | rate, Mbit/s | seconds a step | by the model | share of the sum, % |\n| --- | --- | --- | --- | --- |")
        alone = None
        for delay, rate in WIRES:
            wire.set(delay, rate)
            seconds, share, weights = seconds_of_a_step(fovea, folder, o.preset, o.steps, agent)
            alone = alone or seconds
            sent = 8 * weights * 1 / 2  # bytes each way, of two ranks
            model = alone + DELAYS * delay / 1000 + sent * 8 / (rate * 1e6)
            print(f"| {delay} | {rate} | {seconds:.3f} | {model:.3f} | {100 * share:.0f} |", flush=True)
    finally:
        wire.remove()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
