#!/usr/bin/env python3
"""Hostile clients against one `fovea serve` on this machine, as script/load --hostile starts it.

usage: hostile.py PORT PID SECONDS FILE

Makes FILE when it is done, holds 50 requests half sent, and ends when the server does.

Each kind attacks for SECONDS and then leaves. Printed for each: the most resident memory, the median latency of
/health meanwhile, and what the server counts as held when it is over. Nothing is ever sent to another machine.
"""
import json
import re
import socket
import statistics
import sys
import threading
import time

port, pid, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])


def connect():
    return socket.create_connection(("127.0.0.1", port), timeout=5)


def resident():
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def get(path):
    with connect() as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        parts = []
        while part := s.recv(65536):
            parts.append(part)
    return b"".join(parts).decode()


def head(path, length):
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {length}\r\n\r\n").encode()


def half_bodies(stop):
    """300 clients that send half of 1.9 MB and wait."""
    kept = []
    for _ in range(300):
        if stop.is_set():
            break
        try:
            s = connect()
            s.sendall(head("/translate", 1900000) + b'{"q":"' + b"a" * 950000)
            kept.append(s)
        except OSError:
            pass
    stop.wait()
    for s in kept:
        s.close()


def unread_answers(stop):
    """60 clients that ask for megabytes of attention and read nothing."""
    text = "3 March 2021 is a day. " * 160
    body = json.dumps({"q": text, "source": "en", "target": "de", "beam": 1}).encode()
    kept = []
    for _ in range(60):
        try:
            s = connect()
            s.sendall(head("/attention", len(body)) + body)
            kept.append(s)
        except OSError:
            pass
    stop.wait()
    for s in kept:
        s.close()


def slow(stop):
    """500 clients that send a byte of a header each half second."""
    kept = []
    for _ in range(500):
        try:
            s = connect()
            s.sendall(b"GET /health HTTP/1.1\r\nA: ")
            kept.append(s)
        except OSError:
            pass
    while not stop.wait(0.5):
        for s in kept:
            try:
                s.send(b"a")
            except OSError:
                pass
    for s in kept:
        s.close()


def useless_bodies(stop):
    """8 clients that send 2 MB of JSON over and over, with nothing to translate in it."""
    body = b'{"x":[' + b"[]," * 690000 + b"[]]}"

    def one():
        while not stop.is_set():
            try:
                with connect() as s:
                    s.sendall(head("/translate", len(body)) + body)
                    s.recv(65536)
            except OSError:
                pass

    threads = [threading.Thread(target=one) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def leaving(stop):
    """Clients that leave in the middle of a body, as fast as they can."""
    while not stop.is_set():
        try:
            with connect() as s:
                s.sendall(head("/translate", 1900000) + b'{"q":"' + b"a" * 950000)
        except OSError:
            pass


def gauge(text, name):
    found = re.search(rf"^{name} (\S+)$", text, re.M)
    return float(found.group(1)) if found else float("nan")


print("| clients | most resident memory | /health, median and most | connections 3 s later | held 3 s later |")
print("| --- | --- | --- | --- | --- |")
for attack in (half_bodies, leaving, slow, useless_bodies, unread_answers):
    stop = threading.Event()
    thread = threading.Thread(target=attack, args=(stop,))
    thread.start()
    most, times, until = 0.0, [], time.monotonic() + seconds
    while time.monotonic() < until:
        most = max(most, resident())
        began = time.monotonic()
        try:
            get("/health")
        except OSError:
            pass  # a timeout counts with its length
        times.append(time.monotonic() - began)
        time.sleep(0.02)
    stop.set()
    thread.join()
    time.sleep(3)
    text = get("/metrics")
    held = sum(gauge(text, f'fovea_held_bytes{{kind="{kind}"}}') for kind in ("requests", "answers"))
    print(f"| {attack.__doc__} | {most:.0f} MB | {statistics.median(times) * 1000:.1f} ms and {max(times) * 1000:.0f} ms "
          f"| {gauge(text, 'fovea_connections') - 1:.0f} | {held / 1e6:.1f} MB |", flush=True)
# What the server must end in spite of, when it receives SIGTERM.
last = [connect() for _ in range(50)]
for s in last:
    s.sendall(head("/translate", 1900000) + b'{"q":"')
open(sys.argv[4], "w").close()
for s in last:
    s.settimeout(60)
    try:
        s.recv(1)
    except OSError:
        pass
