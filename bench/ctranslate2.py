"""Compares Fovea with CTranslate2 (the npm package ctranslate2) on the same models and lines, in turn. Run by bench/ctranslate2.sh.

    ctranslate2.py prepare FOLDER               lines and a SentencePiece model whose pieces are whole words
    ctranslate2.py int8 FROM TO                 a CTranslate2 model with its matrices in int8
    ctranslate2.py compare FOLDER PRESET…       the table

Sources have 13 to 16 words, targets 15, of a vocabulary of 10,000: a model that was trained on them for two minutes
writes 15 tokens for nearly every line. Models are loaded once; start-up is not measured. Outputs are text on both sides.
"""
import os
import random
import shlex
import struct
import subprocess
import sys
from array import array
from pathlib import Path

VOCAB = 10000
CELLS = [(1, 1), (32, 1), (64, 1), (1, 5), (32, 5), (64, 5)]  # lines a call, beam


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def prepare(folder):
    rng, words = random.Random(7), {}
    while len(words) < VOCAB - 4:
        word = "".join(rng.choice("bcdfghklmnprst") + rng.choice("aeiou") for _ in range(3)) + rng.choice(["", "n", "s", "r"])
        words[word] = True
    words = list(words)
    number = lambda key, n: varint(key << 3) + varint(n)
    text = lambda key, b: varint(key << 3 | 2) + varint(len(b)) + b
    piece = lambda s, score, kind: text(1, text(1, s.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score) + number(3, kind))
    model = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3)
    model += b"".join(piece("\u2581" + word, -5 - i * 1e-4, 1) for i, word in enumerate(words))
    model += text(2, number(3, 1) + number(4, len(words) + 3) + number(40, 0) + number(41, 1) + number(42, 2))
    model += text(3, text(1, b"identity") + number(3, 1) + number(4, 1) + number(5, 1))
    (folder / "words.model").write_bytes(model)
    frequent = [1 / (i + 20) for i in range(len(words))]
    for name, count in [("train", 40000), ("valid", 500), ("test", 2048)]:
        sources = [rng.choices(words, frequent, k=rng.randint(13, 16)) for _ in range(count)]
        targets = [(source + rng.choices(words, frequent, k=2))[:15] for source in sources]
        for side, lines in [("source", sources), ("target", targets)]:
            (folder / f"{name}.{side}").write_text("".join(" ".join(line) + "\n" for line in lines))


def to_int8(source, target):
    """As CTranslate2's own converter does: round(w * 127 / largest of its row)."""
    data, at = (source / "model.bin").read_bytes(), 0

    def take(form):
        nonlocal at
        value = struct.unpack_from("<" + form, data, at)[0]
        at += struct.calcsize("<" + form)
        return value

    def take_bytes(n):
        nonlocal at
        at += n
        return data[at - n: at]

    text = lambda: take_bytes(take("H"))[:-1].decode()
    spell = lambda s: struct.pack("<H", len(s) + 1) + s.encode() + b"\0"
    version, name, revision, count = take("I"), text(), take("I"), take("I")
    variables = {}
    for _ in range(count):
        key = text()
        shape = [take("I") for _ in range(take("B"))]
        kind, content = take("B"), take_bytes(take("I"))
        if kind == 0 and len(shape) == 2 and key.endswith("/weight"):
            weights, scales, rounded = array("f", content), array("f"), array("b")
            for row in range(shape[0]):
                part = weights[row * shape[1]: (row + 1) * shape[1]]
                scale = 127 / (max(max(part), -min(part)) or 127)
                scales.append(scale)
                rounded.extend(round(w * scale) for w in part)
            variables[key + "_scale"] = ([shape[0]], 0, scales.tobytes())
            kind, content = 1, rounded.tobytes()
        variables[key] = (shape, kind, content)
    aliases = [(text(), text()) for _ in range(take("I"))]
    aliases += [(a + "_scale", of + "_scale") for a, of in aliases if of + "_scale" in variables]
    target.mkdir(exist_ok=True)
    for file in source.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    with open(target / "model.bin", "wb") as out:
        out.write(struct.pack("<I", version) + spell(name) + struct.pack("<II", revision, len(variables)))
        for key, (shape, kind, content) in sorted(variables.items()):
            out.write(spell(key) + struct.pack(f"<B{len(shape)}I", len(shape), *shape) + struct.pack("<BI", kind, len(content)))
            out.write(content)
        out.write(struct.pack("<I", len(aliases)) + b"".join(spell(a) + spell(of) for a, of in aliases))


class Side:
    """One or several processes of a program, asked at once; what they do is added."""

    def __init__(self, command, processes):
        self.processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                          for _ in range(processes)]

    def ask(self, question):
        for process in self.processes:
            print(question, file=process.stdin, flush=True)
        return sum(float(process.stdout.readline()) for process in self.processes)

    def close(self):
        for process in self.processes:
            process.stdin.close()
            process.wait()


def compare(folder, presets):
    node, package = shlex.split(os.environ.get("NODE") or "node"), os.environ["PACKAGE"]
    shown = os.environ.get("FOLDER_THERE") or str(folder)  # the folder as node sees it
    seconds, rounds = float(os.environ.get("SECONDS_EACH") or 0.7), int(os.environ.get("ROUNDS") or 3)
    types = (os.environ.get("TYPES") or "fp32 int8").split()
    ways = [(1, 2), (2, 1)]  # processes, threads
    for preset in presets:
        for kind in types:
            ours, theirs = {}, {}
            for processes, threads in ways:
                ours[processes] = Side([str(folder / "translate_speed"), str(folder / preset), str(folder / "test.source"), kind,
                                        str(threads)], processes)
                theirs[processes] = Side([*node, f"{shown}/ctranslate2_speed.mjs", package, f"{shown}/{preset}.ct2.{kind}",
                                          f"{shown}/test.source", str(threads)], processes)
            same = []
            for beam in [1, 5]:
                ours[1].ask(f"write {beam} {folder}/ours.out")
                theirs[1].ask(f"write {beam} {shown}/theirs.out")
                a, b = [(folder / name).read_text().splitlines() for name in ["ours.out", "theirs.out"]]
                lengths = sum(len(line.split()) == 15 for line in a) / len(a)
                same.append(f"beam {beam}: {sum(x == y for x, y in zip(a, b)) / len(a):.1%} of outputs the same, "
                            f"{lengths:.1%} of 15 tokens")
            print(f"{preset}, {kind}: {'; '.join(same)}\n", flush=True)
            print("| sentences/s | Fovea | CTranslate2 | ratio | Fovea, two processes of one thread | CTranslate2, the same | ratio "
                  "| best to best |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
            for batch, beam in CELLS:
                best = {}
                for _ in range(rounds):
                    for processes, _threads in ways:
                        for name, side in [("ours", ours[processes]), ("theirs", theirs[processes])]:
                            rate = side.ask(f"{batch} {beam} {seconds}")
                            best[name, processes] = max(rate, best.get((name, processes), 0))
                cells = []
                for processes, _threads in ways:
                    a, b = best["ours", processes], best["theirs", processes]
                    cells.append(f"{a:,.0f} | {b:,.0f} | {a / b:.2f}")
                most = lambda name: max(best[name, processes] for processes, _ in ways)
                print(f"| {batch} a call, beam {beam} | {' | '.join(cells)} | {most('ours') / most('theirs'):.2f} |", flush=True)
            print(flush=True)
            for side in [*ours.values(), *theirs.values()]:
                side.close()


if __name__ == "__main__":
    action, *arguments = sys.argv[1:]
    if action == "prepare":
        prepare(Path(arguments[0]))
    elif action == "int8":
        to_int8(Path(arguments[0]), Path(arguments[1]))
    else:
        compare(Path(arguments[0]), arguments[1:])
