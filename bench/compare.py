"""Compares Fovea with PyTorch on this machine: the measurements alternate for several rounds and are reported as ratios.

Run by script/compare. PYTHON is the command of the interpreter that has PyTorch (default: /usr/bin/python3), FOVEA that of
Fovea; bench/compare_torch.py is what the former is given.
"""
import json
import os
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

VOCAB, BATCH_TOKENS, THREADS, ROUNDS = 10000, 4096, 2, 3
PRESETS = ["transformer-tiny", "transformer-small", "rnn-bahdanau", "rnn-luong"]


def fovea(*arguments):
    command = [*shlex.split(os.environ.get("FOVEA") or "build/release/fovea"), "bench", *map(str, arguments)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out.strip().splitlines()[-1])


class PyTorch:
    """A process that measures what it is asked for. It keeps its memory: what it frees it needs again in the next step."""

    def __init__(self):
        keeping = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)}
        command = shlex.split(os.environ.get("PYTHON") or "/usr/bin/python3")
        program = Path(__file__).with_name("compare_torch.py").read_text()
        self.process = subprocess.Popen([*command, "-c", program, *map(str, [VOCAB, BATCH_TOKENS, THREADS])], text=True,
                                        env={**keeping, **os.environ}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *question):
        try:
            print(json.dumps(question), file=self.process.stdin, flush=True)
            return json.loads(self.process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            sys.exit(f"compare: {shlex.join(self.process.args[:-5])}: ended with {self.process.wait()} instead of an answer")


def rounds(ours, theirs):
    """Medians of both over interleaved rounds."""
    a, b = [], []
    for _ in range(ROUNDS):
        a.append(ours())
        b.append(theirs())
    return statistics.median(a), statistics.median(b)


def main():
    wanted = sys.argv[1:] or ["train", "attention", "decode"]
    unknown = set(wanted) - {"train", "attention", "decode"} - set(PRESETS)
    if unknown:
        sys.exit(f"compare: {', '.join(sorted(unknown))}: train, attention, decode and the training of {', '.join(PRESETS)} "
                 "are compared")
    torch = PyTorch()
    print(f"Fovea and PyTorch {torch.ask('version')}, {THREADS} threads, medians of {ROUNDS} rounds in turn; PyTorch multiplies "
          f"matrices of 2,048 x 2,048 at {torch.ask('product'):.0f} GFLOP/s\n", flush=True)
    presets = [p for p in PRESETS if p in wanted or "train" in wanted]
    if presets:
        print("| training, target tokens/s | Fovea | PyTorch | ratio |\n| --- | --- | --- | --- |")
        for p in presets:
            a, b = rounds(lambda: fovea("train", "--preset", p, "--vocab", VOCAB, "--batch-tokens", BATCH_TOKENS,
                                        "--threads", THREADS, "--seconds", 6)["target_tokens_per_s"],
                          lambda: torch.ask("train", p, 6))
            print(f"| {p} | {a:,.0f} | {b:,.0f} | {a / b:.2f} |", flush=True)
    if "attention" in wanted:
        print("\n| attention, ms | Fovea | PyTorch | ratio |\n| --- | --- | --- | --- |")
        for b, h, n, d in [(32, 4, 32, 32), (64, 8, 64, 64), (8, 8, 512, 64), (1, 8, 2048, 64)]:
            for causal in [False, True]:
                for backward in [False, True]:
                    flags = (["--causal"] if causal else []) + (["--backward"] if backward else [])
                    x, y = rounds(lambda: fovea("attention", "--batch", b, "--heads", h, "--queries", n, "--keys", n,
                                                "--dim", d, "--threads", THREADS, *flags)["median_ms"],
                                  lambda: torch.ask("attention", b, h, n, d, causal, backward))
                    name = f"B{b} H{h} N{n} D{d}{' causal' if causal else ''}{' with backward' if backward else ''}"
                    print(f"| {name} | {x:.3f} | {y:.3f} | {y / x:.2f} |", flush=True)
    if "decode" in wanted:
        print("\n| decoding transformer-tiny, 15 tokens, sentences/s | Fovea | PyTorch | ratio |\n| --- | --- | --- | --- |")
        for rows, beam in [(1, 1), (32, 5)]:
            a, b = rounds(lambda: fovea("decode", "--preset", "transformer-tiny", "--vocab", VOCAB, "--batch", rows, "--beam",
                                        beam, "--length", 15, "--threads", THREADS)["sentences_per_s"],
                          lambda: torch.ask("decode", "transformer-tiny", rows, beam, 15))
            print(f"| batch {rows}, beam {beam} | {a:.0f} | {b:.0f} | {a / b:.2f} |", flush=True)


if __name__ == "__main__":
    main()
