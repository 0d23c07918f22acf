"""Log-probabilities of targets by a pre-norm Transformer in CTranslate2's binary version 2 (float32), in NumPy and float64,
from the format's description. Usage: ctranslate2_score.py FOLDER, lines SOURCE<tab>TARGET of tokens on standard input."""
import struct
import sys
from pathlib import Path

import numpy as np

folder = Path(sys.argv[1])


def read_variables(data):
    at = 4
    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]
    def text():
        return take(f"{take('H')}s").rstrip(b"\0").decode()
    spec, _, count = text(), take("I"), take("I")
    assert struct.unpack_from("<I", data)[0] == 2 and spec == "TransformerBase"
    variables = {}
    for _ in range(count):
        name = text()
        shape = [take("I") for _ in range(take("B"))]
        width, items = take("B"), take("I")
        kind = {1: "<i1", 2: "<i2", 4: "<f4"}[width]
        variables[name] = np.frombuffer(data, kind, items, at).reshape(shape).astype(np.float64)
        at += width * items
    return variables


w = read_variables((folder / "model.bin").read_bytes())
dim = w["decoder/embeddings/weight"].shape[1]
heads = 8


def linear(at, x):
    return x @ w[at + "/weight"].T + w[at + "/bias"]


def norm(at, x):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * w[at + "/gamma"] + w[at + "/beta"]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def embedded(side, ids):
    half = dim // 2
    angle = (1 + np.arange(len(ids)))[:, None] * np.exp(-np.arange(half) * np.log(10000) / (half - 1))
    return w[side + "/embeddings/weight"][ids] * np.sqrt(dim) + np.concatenate([np.sin(angle), np.cos(angle)], 1)


def attend(at, x, memory=None):
    inner = norm(at + "/layer_norm", x)
    if memory is None:
        q, k, v = np.split(linear(at + "/linear_0", inner), 3, 1)
        last = "/linear_1"
    else:
        q, (k, v) = linear(at + "/linear_0", inner), np.split(linear(at + "/linear_1", memory), 2, 1)
        last = "/linear_2"
    q, k, v = (y.reshape(len(y), heads, -1).transpose(1, 0, 2) for y in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    if memory is None and at.startswith("decoder"):
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    return x + linear(at + last, (softmax(scores) @ v).transpose(1, 0, 2).reshape(len(x), -1))


def run(side, x, memory=None):
    i = 0
    while f"{side}/layer_{i}/ffn/linear_0/weight" in w:
        at = f"{side}/layer_{i}"
        x = attend(at + "/self_attention", x)
        if memory is not None:
            x = attend(at + "/attention", x, memory)
        inner = np.maximum(linear(at + "/ffn/linear_0", norm(at + "/ffn/layer_norm", x)), 0)
        x = x + linear(at + "/ffn/linear_1", inner)
        i += 1
    return norm(side + "/layer_norm", x)


source_ids, target_ids = ({token: i for i, token in enumerate((folder / f"{side}_vocabulary.txt").read_text(encoding="utf-8").split("\n"))}
                          for side in ("source", "target"))
for line in sys.stdin.buffer.read().decode().splitlines():
    source, target = (part.split() for part in line.split("\t"))
    memory = run("encoder", embedded("encoder", [source_ids[t] for t in source]))
    target = [target_ids[t] for t in target] + [target_ids["</s>"]]
    states = run("decoder", embedded("decoder", [target_ids["<s>"]] + target[:-1]), memory)
    logits = linear("decoder/projection", states)
    log_probabilities = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    print(repr(float(log_probabilities[np.arange(len(target)), target].sum())))
