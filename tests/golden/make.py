#!/usr/bin/python3
"""Makes the golden values beside it with PyTorch (Debian's python3-torch), in double precision.

    tests/golden/make.py            all of them
    tests/golden/make.py gru conv2d those named

One function per op; each returns {name: tensor}, which becomes NAME.safetensors in float32. Inputs are rounded to
float32 before they are used, so that both sides compute from the same numbers.
"""
import json
import pathlib
import struct
import sys

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

HERE = pathlib.Path(__file__).parent


def write(path, tensors):
    """The .safetensors format: length of the header, header as JSON, values."""
    header, blob = {}, b""
    for name, tensor in sorted(tensors.items()):
        kind = "I64" if tensor.dtype == torch.int64 else "F32"
        array = tensor.detach().contiguous().to(torch.int64 if kind == "I64" else torch.float32)
        data = array.numpy().tobytes()
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + blob)


def values(*shape, scale=1.0):
    """Normal values that are exact in float32; a leaf that gathers its gradient."""
    return (torch.randn(*shape) * scale).to(torch.float32).to(torch.float64).requires_grad_()


def gradients(loss_terms, **leaves):
    """The gradient of the sum of output * r for fixed random r: {"r.NAME": r} and {"d.NAME": gradient}."""
    result, loss = {}, 0.0
    for name, output in loss_terms.items():
        r = values(*output.shape).detach()
        result["r." + name] = r
        loss = loss + (output * r).sum()
    loss.backward()
    result.update({"d." + name: leaf.grad for name, leaf in leaves.items()})
    return result


LENGTHS = torch.tensor([5, 1, 3, 5])


def recurrent(module, gates):
    """A bidirectional run over packed sequences, with first states, in Fovea's layout of the weights."""
    batch, steps, inputs, h = 4, 5, 3, 6
    layer = module(inputs, h, bidirectional=True, batch_first=True).double()
    for parameter in layer.parameters():
        parameter.data = values(*parameter.shape, scale=0.5).detach()
    x = values(batch, steps, inputs)
    first = values(2, batch, h)
    cell = values(2, batch, h)
    lstm = gates == 4
    packed = pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
    states, last = layer(packed, (first, cell) if lstm else first)
    states, _ = pad_packed_sequence(states, batch_first=True, total_length=steps)
    side_by_side = lambda t: t.transpose(0, 1).reshape(batch, 2 * h)
    outputs = {"states": states, "last": side_by_side(last[0] if lstm else last)}
    leaves = {"x": x, "first": first}
    if lstm:
        outputs["last_cell"] = side_by_side(last[1])
        leaves["cell"] = cell
    result = {"x": x, "lengths": LENGTHS, "first": side_by_side(first), "cell": side_by_side(cell), **outputs}
    result.update(gradients(outputs, **leaves))
    result["d.first"] = side_by_side(result["d.first"])
    if lstm:
        result["d.cell"] = side_by_side(result["d.cell"])
    for name, suffix in (("forward", ""), ("backward", "_reverse")):
        w = getattr(layer, "weight_ih_l0" + suffix)
        u = getattr(layer, "weight_hh_l0" + suffix)
        b = getattr(layer, "bias_ih_l0" + suffix)
        c = getattr(layer, "bias_hh_l0" + suffix)
        bias = b + c
        if not lstm:  # the third part of c stays inside the reset gate
            bias = torch.cat([bias[: 2 * h], b[2 * h :]])
            result[name + ".state_bias"] = c[2 * h :]
            result["d." + name + ".state_bias"] = c.grad[2 * h :]
        result.update({name + ".input": w.t(), name + ".state": u.t(), name + ".bias": bias})
        result.update({"d." + name + ".input": w.grad.t(), "d." + name + ".state": u.grad.t()})
        result["d." + name + ".bias"] = b.grad
    return result


def gru():
    return recurrent(nn.GRU, 3)


def lstm():
    return recurrent(nn.LSTM, 4)


def conv1d_glu():
    """Width 3, same padding, over sequences whose padding is zeros."""
    x, w, b = values(4, 5, 7), values(6, 7, 3, scale=0.5), values(6)
    real = (torch.arange(5)[None, :] < LENGTHS[:, None]).double()[..., None]
    y = functional.glu(functional.conv1d((x * real).transpose(1, 2), w, b, padding=1), dim=1).transpose(1, 2) * real
    result = {"x": x, "lengths": LENGTHS, "bias": b, "y": y, **gradients({"y": y}, x=x, weights=w, bias=b)}
    rows = lambda t: t.permute(2, 1, 0).reshape(21, 6)
    result.update({"weights": rows(w), "d.weights": rows(result["d.weights"])})
    return result


def conv2d():
    x, w, b = values(2, 3, 6, 5), values(4, 3, 3, 2, scale=0.5), values(4)
    y = functional.conv2d(x, w, b, stride=(2, 1), padding=(1, 0))
    result = {"bias": b, "y": y.permute(0, 2, 3, 1), **gradients({"y": y}, x=x, weights=w, bias=b)}
    rows = lambda t: t.permute(2, 3, 1, 0).reshape(18, 4)
    result.update({"weights": rows(w), "d.weights": rows(result["d.weights"])})
    result.update({"x": x.permute(0, 2, 3, 1), "d.x": result["d.x"].permute(0, 2, 3, 1)})
    result["r.y"] = result["r.y"].permute(0, 2, 3, 1)
    return result


def pool2d():
    x = values(2, 9, 6, 5)
    most = functional.max_pool2d(x, (3, 2), stride=2, padding=1)
    mean = functional.avg_pool2d(x, (3, 2), stride=2, padding=1)
    result = {"x": x, "most": most, "mean": mean, **gradients({"most": most, "mean": mean}, x=x)}
    return {name: tensor.permute(0, 2, 3, 1) for name, tensor in result.items()}


OPS = [gru, lstm, conv1d_glu, conv2d, pool2d]

if __name__ == "__main__":
    known = {op.__name__: op for op in OPS}
    for name in sys.argv[1:] or known:
        torch.manual_seed(1)  # each file is the same whichever others are made
        write(HERE / (name + ".safetensors"), known[name]())
