"""Holds `fovea attend` to a float64 NumPy reference: every score, normaliser, mask and head layout, forward within
3e-5, gradients against central differences, on shapes around the edges of vectors and tiles.

    numpy_reference.py PATH/TO/fovea        FOVEA_EVERY=N in the environment: every Nth case, 3 by default
"""

import itertools
import json
import multiprocessing
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SCORES = ["dot", "scaled-dot", "general", "cosine", "additive", "concat", "location"]
NORMALIZERS = ["softmax", "sparsemax", "entmax", "entmax 1.2", "entmax 2", "sigmoid", "hard"]
VISIBILITIES = ["all", "causal", "window", "lengths", "bias", "mask", "alibi", "causal+lengths+alibi", "window+bias",
                "causal+prefix", "window+dilation", "causal+window+global", "causal+documents", "softcap+bias", "rotary",
                "rotary+softcap+lengths", "sink+lengths", "off-by-one+causal", "sink+softcap+window+dilation+global"]
LAYOUTS = ["plain", "heads", "grouped", "multi-query", "keys are values"]
# queries, keys, width of the query, of the key where the score allows it, of the value, of the additive score
SHAPES = [(1, 1, 1, 2, 1, 1), (7, 9, 8, 7, 9, 5), (9, 8, 7, 9, 8, 16), (17, 33, 16, 15, 3, 17), (5, 65, 33, 8, 17, 9),
          (33, 31, 9, 33, 16, 8), (64, 64, 32, 32, 32, 32), (65, 63, 8, 8, 65, 7), (3, 130, 64, 12, 64, 33),
          (129, 15, 5, 6, 7, 3)]


# --- files ------------------------------------------------------------------------------------------------------------
def write_safetensors(path, arrays):
    header, data = {}, b""
    for name, a in arrays.items():
        raw = np.ascontiguousarray(a).tobytes()
        header[name] = {"dtype": {"float32": "F32", "float64": "F64"}[a.dtype.name], "shape": list(a.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + size])
    out = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = {"F32": np.float32, "I64": np.int64}[entry["dtype"]]
        out[name] = np.frombuffer(raw[8 + size + begin:8 + size + end], dtype).reshape(entry["shape"])
    return out


# --- the reference: q [B,H,Tq,d], k [B,H,Tk,d], v [B,H,Tk,dv] ---------------------------------------------------------
def scores(case, q, k, p):
    d = q.shape[-1]
    name = case["score"]
    if name in ("dot", "scaled-dot"):
        return case.get("scale", 1.0 if name == "dot" else d ** -0.5) * (q @ k.swapaxes(-1, -2))
    if name == "cosine":
        q, k = (x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-8) for x in (q, k))
        return case.get("scale", 1.0) * (q @ k.swapaxes(-1, -2))
    if name == "general":
        return q @ p["W"] @ k.swapaxes(-1, -2)
    if name == "location":
        return q @ p["W"][:k.shape[2]].T
    w, u = (p["W"], p["U"]) if name == "additive" else (p["W"][:, :d], p["W"][:, d:])
    return np.tanh((q @ w.T)[:, :, :, None, :] + (k @ u.T)[:, :, None, :, :]) @ p["v"]


def normalize(name, s, visible, sink=None):
    """Over the last axis, of what is visible; rows without visible keys become 0."""
    any_visible = visible.any(-1, keepdims=True)
    if name == "sigmoid":
        return np.where(visible, 0.5 * (1 + np.tanh(s / 2)), 0)
    x = np.where(visible, s, -np.inf)
    top = np.where(any_visible, x.max(-1, keepdims=True, initial=-1e300), 0)
    x = np.where(visible, x - top, -np.inf)
    if name == "softmax":
        e = np.exp(x)
        total = e.sum(-1, keepdims=True) + (0 if sink is None else np.exp(sink[None, :, None, None] - top))
        return e / np.where(any_visible, total, 1)
    if name == "entmax 1.2":
        low, high = np.full(top.shape, -1.0), np.zeros(top.shape)
        weights = lambda tau: np.where(visible, np.maximum(0.2 * np.where(visible, x, -1e3) - tau, 0) ** 5, 0)
        for _ in range(60):
            middle = (low + high) / 2
            more = weights(middle).sum(-1, keepdims=True) >= 1
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return weights(low)
    name = {"entmax 2": "sparsemax"}.get(name, name)
    if name == "hard":
        return (np.arange(s.shape[-1]) == x.argmax(-1)[..., None]) & any_visible
    # The k largest have weight as long as the k-th is above the threshold that the k largest give.
    z = -np.sort(-np.where(visible, x, -1e3), axis=-1) / (1 if name == "sparsemax" else 2)
    n = np.arange(1, z.shape[-1] + 1)
    mean = np.cumsum(z, -1) / n
    if name == "sparsemax":
        tau = mean - 1 / n
    else:
        spread = np.cumsum(z * z, -1) - n * mean * mean
        tau = np.where(spread <= 1, mean - np.sqrt(np.maximum(1 - spread, 0) / n), np.inf)
    size = (z > tau).sum(-1, keepdims=True)
    tau = np.take_along_axis(tau, size - 1, -1)
    if name == "sparsemax":
        return np.where(visible, np.maximum(x - tau, 0), 0)
    return np.where(visible, np.maximum(np.where(visible, x, -1e3) / 2 - tau, 0) ** 2, 0)


def alibi_slopes(heads):
    power = 2 ** int(np.floor(np.log2(heads)))
    first = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    more = [2 ** (-8 * (i + 1) / (2 * power)) for i in range(0, 2 * (heads - power), 2)]
    return np.array((first + more)[:heads])


def rotate(x, positions, base, dims):
    """Rotary positions of the first `dims` features of x [..., T, d], halves paired."""
    angle = positions[:, None] * base ** (-2 * np.arange(dims // 2) / dims)
    a, b = x[..., :dims // 2], x[..., dims // 2:dims]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle), x[..., dims:]], -1)


def reference(case, arrays):
    q, k, v = arrays["query"], arrays["key"], arrays.get("value", arrays["key"])
    headless = q.ndim == 3
    if headless:
        q = q[:, None]
    if k.ndim == 3:
        k, v = k[:, None], v[:, None]
    batch, heads, tq, _ = q.shape
    tk = k.shape[2]
    k, v = (np.repeat(x, heads // x.shape[1], axis=1) for x in (k, v))
    parts = case["visibility"].split("+")
    if "rotary" in parts:
        q = rotate(q, np.arange(tq) + tk - tq, 50.0, case["rotary-dims"])
        k = rotate(k, np.arange(tk), 50.0, case["rotary-dims"])
    s = scores(case, q, k, arrays)
    if "softcap" in parts:
        s = 1.5 * np.tanh(s / 1.5)
    position = np.arange(tq)[:, None] + tk - tq
    i = np.arange(tq)[:, None]
    j = np.arange(tk)[None, :]
    visible = np.ones((batch, heads, tq, tk), bool)
    if "window" in parts:
        near = np.abs(position - j) <= case["window"]
        if "dilation" in parts:
            near &= (position - j) % 2 == 0
        if "global" in parts:
            near |= (i < 2) | (j < 2)
        visible &= near
    if "causal" in parts:
        visible &= (j <= position) | (j < 3) if "prefix" in parts else j <= position
    if "documents" in parts:
        visible &= (case["documents"][:, :, None] == case["documents"][:, None, :])[:, None]
    if "lengths" in case["visibility"]:
        visible &= j[None, None] < case["lengths"][:, None, None, None]
    if "mask" in case["visibility"]:
        visible &= case["mask"]
    if "bias" in case["visibility"]:
        s = s + case["bias"]
    if "alibi" in case["visibility"]:
        s = s - alibi_slopes(heads)[None, :, None, None] * np.abs(position - j)
    sink = arrays["sink"] if "sink" in parts else np.zeros(heads) if "off-by-one" in parts else None
    w = normalize(case["normalize"], s / case.get("temperature", 1.0), visible, sink)
    out = w @ v
    return (out[:, 0], w[:, 0]) if headless else (out, w)


# --- cases ------------------------------------------------------------------------------------------------------------
def make_case(number, score, normalizer, visibility, layout):
    rng = np.random.default_rng(number)
    choice = rng.integers(0, 1 << 30)  # of everything that is not a dimension of the test
    tq, tk, dq, dk, dv, h = SHAPES[choice % len(SHAPES)]
    if score in ("dot", "scaled-dot", "cosine"):
        dk = dq
    if "documents" in visibility:
        tk = tq
    batch = 1 + choice % 3
    heads, kv = {"plain": (1, 1), "heads": (3, 3), "grouped": (4, 2), "multi-query": (3, 1), "keys are values": (2, 2)}[layout]
    case = {"score": score, "normalize": normalizer, "visibility": visibility, "window": choice % 4,
            "lengths": rng.integers(0, tk + 1, batch), "mask": rng.random((heads, tq, 1 if choice % 5 == 0 else tk)) < 0.7,
            "bias": rng.normal(size=[(tq, tk), (batch, 1, 1, tk), (1, heads, tq, 1), (batch, heads, tq, tk)][choice // 8 % 4])}
    if score in ("dot", "scaled-dot", "cosine") and choice // 3 % 2:
        case["scale"] = 0.3
    if choice // 5 % 4 == 1:
        case["temperature"] = 1.7
    case["documents"] = np.sort(rng.integers(0, 4, (batch, tk)), -1)
    case["rotary-dims"] = min(dq, dk) // 2 * 2
    plain = layout == "plain"
    key_shape = [batch, tk] if plain or (kv == 1 and choice // 7 % 2) else [batch, kv, tk]
    arrays = {"query": rng.normal(size=([batch, tq] if plain else [batch, heads, tq]) + [dq]),
              "key": rng.normal(size=key_shape + [dk])}
    if layout != "keys are values":
        arrays["value"] = rng.normal(size=key_shape + [dv])
    if score == "general":
        arrays["W"] = rng.normal(size=(dq, dk)) / np.sqrt(dq)
    elif score == "location":
        arrays["W"] = rng.normal(size=(tk + choice // 9 % 3, dq)) / np.sqrt(dq)
    elif score == "additive":
        arrays |= {"W": rng.normal(size=(h, dq)) / np.sqrt(dq), "U": rng.normal(size=(h, dk)) / np.sqrt(dk),
                   "v": rng.normal(size=h)}
    elif score == "concat":
        arrays |= {"W": rng.normal(size=(h, dq + dk)) / np.sqrt(dq), "v": rng.normal(size=h)}
    if "sink" in visibility:
        arrays["sink"] = rng.normal(size=heads)
    # What the file holds is what the reference computes with.
    case["bias"] = case["bias"].astype(np.float32).astype(np.float64)
    return case, {name: a.astype(np.float32) for name, a in arrays.items()}


def run(binary, folder, case, arrays, number):
    command = [binary, "attend", "--score", case["score"], "--normalize", *case["normalize"].replace(" ", " --alpha ").split(),
               "--threads", str(1 + number % 2)]
    for name, a in arrays.items():
        if len(name) > 1:
            np.save(folder / f"{name}.npy", a.astype(np.float64) if number % 7 == 0 else a)
            command += [f"--{name}", str(folder / f"{name}.npy")]
    parameters = {name: a for name, a in arrays.items() if len(name) == 1}
    if parameters:
        write_safetensors(folder / "params.safetensors", parameters)
        command += ["--params", str(folder / "params.safetensors")]
    for option in ("scale", "temperature"):
        if option in case:
            command += [f"--{option}", str(case[option])]
    for part in case["visibility"].split("+"):
        if part in ("causal", "alibi", "off-by-one"):
            command += [f"--{part}"]
        elif part in ("prefix", "dilation", "global", "softcap"):
            command += [f"--{part}", {"prefix": "3", "dilation": "2", "global": "2", "softcap": "1.5"}[part]]
        elif part == "rotary":
            command += ["--rotary", "50", "--rotary-dims", str(case["rotary-dims"])]
        elif part == "window":
            command += ["--window", str(case["window"])]
        elif part not in ("all", "sink"):
            np.save(folder / f"{part}.npy", case[part].astype(np.float32) if part == "bias" else case[part])
            command += [f"--{part}", str(folder / f"{part}.npy")]
    out, weights = reference(case, {n: a.astype(np.float64) for n, a in arrays.items()})
    grad = np.random.default_rng(number + 1).normal(size=out.shape).astype(np.float32)
    np.save(folder / "grad.npy", grad)
    top = min(3, weights.shape[-1])
    files = {name: folder / name for name in ("out.npy", "weights.npy", "top.safetensors", "grads.safetensors")}
    command += ["--out", files["out.npy"], "--weights", files["weights.npy"], "--top", str(top), "--top-out",
                files["top.safetensors"], "--grad", folder / "grad.npy", "--grads", files["grads.safetensors"]]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"exit {done.returncode}: {done.stderr}")
    return out, weights, grad, np.load(files["out.npy"]), np.load(files["weights.npy"]), \
        read_safetensors(files["top.safetensors"]), read_safetensors(files["grads.safetensors"])


def close(what, got, expected, tolerance):
    if got.shape != expected.shape:
        raise AssertionError(f"{what} has shape {got.shape}, expected {expected.shape}")
    wrong = np.abs(got - expected) - tolerance * np.maximum(1, np.abs(expected))
    if not (wrong <= 0).all():
        at = np.unravel_index(np.nanargmax(wrong) if not np.isnan(wrong).all() else 0, wrong.shape)
        raise AssertionError(f"{what}{list(at)} is {got[at]}, expected {expected[at]}")


def check(binary, folder, case, arrays, number):
    out, weights, grad, got, got_weights, top, grads = run(binary, folder, case, arrays, number)
    close("out", got, out, 3e-5)
    close("weights", got_weights, weights, 3e-5)
    order = np.argsort(-got_weights, axis=-1, kind="stable")[..., :top["index"].shape[-1]]
    close("top weight", top["weight"], np.take_along_axis(got_weights, order, -1), 1e-6)
    close("top weight at its index", np.take_along_axis(got_weights, top["index"], -1), top["weight"], 1e-6)
    if set(grads) != set(arrays):
        raise AssertionError(f"grads holds {sorted(grads)}, expected {sorted(arrays)}")
    exact = {n: a.astype(np.float64) for n, a in arrays.items()}
    rng = np.random.default_rng(number + 2)
    # One direction through all values of all arrays, each array of length 1 in it; then one value of one array.
    everywhere = {n: rng.normal(size=a.shape) for n, a in exact.items()}
    everywhere = {n: a / np.linalg.norm(a) for n, a in everywhere.items()}
    name = sorted(exact)[rng.integers(len(exact))]
    unit = np.zeros(exact[name].shape)
    unit.flat[rng.integers(unit.size)] = 1
    for what, direction in (("", everywhere), (f" of {name}", {name: unit})):
        def loss(step):
            return (reference(case, exact | {n: exact[n] + step * d for n, d in direction.items()})[0] * grad).sum()

        numeric = (loss(1e-6) - loss(-1e-6)) / 2e-6
        analytic = sum((grads[n].astype(np.float64) * d).sum() for n, d in direction.items())
        size = max(1.0, max(np.abs(g).max() for g in grads.values()))
        if not abs(numeric - analytic) <= 1e-4 * size:
            raise AssertionError(f"gradient{what}: {analytic}, expected {numeric}")


def one(task):
    binary, folder, number, (score, normalizer, visibility, layout) = task
    case, arrays = make_case(number, score, normalizer, visibility, layout)
    if ("sink" in visibility or "off-by-one" in visibility) and normalizer != "softmax":
        return None
    if "rotary" in visibility and case["rotary-dims"] < 2:
        return None
    if "softcap" in visibility and normalizer == "hard":  # capped scores are nearly equal, and the largest is unclear
        return None
    place = Path(folder) / str(os.getpid())
    place.mkdir(exist_ok=True)
    try:
        check(binary, place, case, arrays, number)
    except AssertionError as error:
        return f"case {number}: {score}, {normalizer}, {visibility}, {layout}, {arrays['query'].shape}: {error}"
    return None


def main():
    binary = sys.argv[1]
    every = int(os.environ.get("FOVEA_EVERY", "3"))
    cases = list(enumerate(itertools.product(SCORES, NORMALIZERS, VISIBILITIES, LAYOUTS)))[::every]
    with tempfile.TemporaryDirectory() as folder, multiprocessing.Pool() as pool:
        results = pool.map(one, [(binary, folder, number, case) for number, case in cases], chunksize=8)
    failures = [r for r in results if r]
    print("\n".join(failures[:20]))
    print(f"{len(results)} cases, {len(failures)} failed")
    return 1 if failures or not results else 0


if __name__ == "__main__":
    sys.exit(main())
