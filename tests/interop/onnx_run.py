"""Runs encoder.onnx and decoder.onnx by ONNX's operator definitions (opset 17), in NumPy and float64, and compares the
logits with those of logits.npy. Usage: onnx_run.py FOLDER, with source.npy, lengths.npy, target.npy and logits.npy in it."""
import math
import struct
import sys
from pathlib import Path

import numpy as np


def fields(data):
    """Protobuf: (number, value) of each field; bytes, or a whole number, or the bits of a float."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << 64) if value >= 1 << 63 else value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
        elif key & 7 == 5:
            yield key >> 3, struct.unpack("<f", data[at:at + 4])[0]
            at += 4
        else:
            raise ValueError(f"wire type {key & 7}")


def all_of(data, number):
    return [value for n, value in fields(data) if n == number]


def tensor(data):
    dtype = {1: np.float32, 7: np.int64}[all_of(data, 2)[0]]
    values = np.frombuffer(all_of(data, 9)[0], dtype).reshape(all_of(data, 1))
    return all_of(data, 8)[0].decode(), values.astype(np.float64) if dtype == np.float32 else values


def attributes(node):
    out = {}
    for data in all_of(node, 5):
        kind = all_of(data, 20)[0]
        out[all_of(data, 1)[0].decode()] = {1: lambda: all_of(data, 2)[0], 2: lambda: all_of(data, 3)[0],
                                            7: lambda: all_of(data, 8)}[kind]()
    return out


def layer_norm(x, scale, bias, axis, epsilon):
    assert axis == -1
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * scale + bias


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def part(x, starts, ends, axes=None):
    cut = [slice(None)] * x.ndim
    for i, (start, end) in enumerate(zip(starts, ends)):
        cut[i if axes is None else axes[i]] = slice(start, end)
    return x[tuple(cut)]


def unsqueeze(x, axes):
    for axis in sorted(axes):
        x = np.expand_dims(x, axis)
    return x


OPERATORS = {
    "Add": np.add, "Mul": np.multiply, "MatMul": np.matmul, "Erf": np.vectorize(math.erf), "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0), "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Less": np.less,
    "LessOrEqual": np.less_equal, "Where": np.where, "Gather": lambda x, i: x[i],
    "Shape": lambda x: np.array(x.shape, np.int64), "Slice": part, "Unsqueeze": unsqueeze,
    "Squeeze": lambda x, axes: np.squeeze(x, tuple(axes)), "Range": lambda a, b, c: np.arange(a, b, c),
    "Reshape": lambda x, shape: x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape)]),
    "Transpose": lambda x, perm: x.transpose(perm), "Softmax": softmax, "LayerNormalization": layer_norm,
    "Identity": lambda x: x,
}


def run(path, **values):
    model = path.read_bytes()
    (opset,) = all_of(model, 8)
    assert all_of(opset, 2) == [17], "opset 17"
    (graph,) = all_of(model, 7)
    values.update(map(tensor, all_of(graph, 5)))
    wanted = [all_of(i, 1)[0].decode() for i in all_of(graph, 11)]
    assert all(name in values for name in wanted), wanted
    for node in all_of(graph, 1):
        inputs = [values[name.decode()] for name in all_of(node, 1)]
        (output,) = all_of(node, 2)
        assert output.decode() not in values, "a name is given once"
        values[output.decode()] = OPERATORS[all_of(node, 4)[0].decode()](*inputs, **attributes(node))
    (out,) = all_of(graph, 12)
    return values[all_of(out, 1)[0].decode()]


folder = Path(sys.argv[1])
source, lengths, target, logits = (np.load(folder / f"{n}.npy") for n in ("source", "lengths", "target", "logits"))
as_ids = lambda x: x.astype(np.int64)
memory = run(folder / "encoder.onnx", source=as_ids(source), lengths=as_ids(lengths))
found = run(folder / "decoder.onnx", target=as_ids(target), memory=memory, lengths=as_ids(lengths))
worst = np.abs(found - logits)[logits > -1e8].max()
print(f"largest difference of a logit: {worst:.2e}")
sys.exit(0 if found.shape == logits.shape and worst < 1e-4 else 1)
