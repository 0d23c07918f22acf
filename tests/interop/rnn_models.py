"""Recurrent models with random weights in the formats of other programs, and the logits they give: an implementation of
its own, in NumPy and float64, from the formats' descriptions. Usage: rnn_models.py FOLDER."""
import json
import sys
from pathlib import Path

import numpy as np

rng = np.random.default_rng(11)
WORDS = [f"w{i}" for i in range(19)]


def normal(*shape):
    return (rng.standard_normal(shape) * 0.4).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def write_case(folder, tokens, names, logits, length=(6, 5), end=0):
    """case.json and logits.npy for a source and a target of random words."""
    ordinary = [i for i, t in enumerate(tokens) if not t.startswith("<")]
    source, target = ([int(i) for i in rng.choice(ordinary, n)] for n in length)
    np.save(folder / "logits.npy", logits(source + [end], target).astype(np.float32))
    (folder / "case.json").write_text(json.dumps({
        "source": [tokens[i] for i in source], "target": [tokens[i] for i in target], "vocabulary": names}))


class MarianCell:
    """A GRU's weights W, U, b of the gates r, z and Wx, Ux, bx of the candidate; an LSTM's W, U, b of f, i, c, o."""

    def __init__(self, kind, inputs, dim, final=False):
        self.kind, self.dim, self.final = kind, dim, final
        gates = 4 if kind == "lstm" else 2
        self.weights = {"W": normal(inputs, gates * dim), "U": normal(dim, gates * dim), "b": normal(1, gates * dim)}
        if kind == "gru":
            self.weights |= {"Wx": normal(inputs, dim), "Ux": normal(dim, dim), "bx": normal(1, dim)}

    def step(self, x, h, c):
        w = {k: v.astype(np.float64) for k, v in self.weights.items()}
        sums = x @ w["W"] + h @ w["U"] + w["b"][0]
        if self.kind == "lstm":
            f, i, g, o = np.split(sums, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            return sigmoid(o) * np.tanh(c), c
        r, z = np.split(sigmoid(sums), 2)
        recurrent = h @ w["Ux"]
        inner = (recurrent + w["bx"][0]) * r if self.final else recurrent * r + w["bx"][0]
        n = np.tanh(x @ w["Wx"] + inner)
        return (1 - z) * n + z * h, c


def marian(folder, kind="gru", tie="none", amun=False, lookup=None, depth=(1, 1), skip=False, one_way=False,
           change={}):
    """A bidirectional encoder, two cells with additive attention between them, a tanh layer before the output. Deeper
    encoders have a stack for each direction or, one_way, forward layers above the first; deeper decoders layers above
    the second cell."""
    dim, emb = 10, 12
    wide = dim if one_way else 2 * dim
    tokens = ["</s>", "<unk>"] + WORDS
    lookup = lookup or wide
    embed_target = normal(len(tokens), emb)
    embed_source = embed_target if tie == "all" else normal(len(tokens), emb)
    output = normal(emb, len(tokens)) if tie == "none" else embed_target.T
    cells = {"encoder_bi": MarianCell(kind, emb, dim), "encoder_bi_r": MarianCell(kind, emb, dim),
             "decoder_cell1": MarianCell(kind, emb, dim), "decoder_cell2": MarianCell(kind, wide, dim, final=True)}
    for i in range(2, depth[0] + 1):
        if one_way:
            cells[f"encoder_l{i}_cell1"] = MarianCell(kind, 2 * dim if i == 2 else dim, dim)
        else:
            cells |= {f"encoder_bi{side}_l{i}_cell1": MarianCell(kind, dim, dim) for side in ("", "_r")}
    cells |= {f"decoder_l{i}_cell1": MarianCell(kind, dim, dim) for i in range(2, depth[1] + 1)}
    t = {f"{at}_{k}": v for at, cell in cells.items() for k, v in cell.weights.items()}
    t |= {"decoder_ff_state_W": normal(wide, dim), "decoder_ff_state_b": normal(1, dim),
          "decoder_W_comb_att": normal(dim, lookup), "decoder_Wc_att": normal(wide, lookup),
          "decoder_b_att": normal(1, lookup), "decoder_U_att": normal(lookup, 1)}
    for i, inputs in enumerate((emb, dim, wide)):
        t |= {f"decoder_ff_logit_l1_W{i}": normal(inputs, emb), f"decoder_ff_logit_l1_b{i}": normal(1, emb)}
    t["decoder_ff_logit_l2_b"] = normal(1, len(tokens))

    def logits(source, target):
        w = {k: v.astype(np.float64) for k, v in t.items()}
        words = embed_source[source].astype(np.float64)

        def read(cell, inputs):
            h, c, states = np.zeros(dim), np.zeros(dim), []
            for x in inputs:
                h, c = cell.step(x, h, c)
                states.append(h)
            return states

        def stack(names, x):
            for i, name in enumerate(names):
                given = np.array(read(cells[name], x))
                x = given + x if skip and i > 0 else given
            return x

        above = range(2, 1 if one_way else depth[0] + 1)
        memory = np.concatenate([stack(["encoder_bi"] + [f"encoder_bi_l{i}_cell1" for i in above], words),
                                 stack(["encoder_bi_r"] + [f"encoder_bi_r_l{i}_cell1" for i in above],
                                       words[::-1])[::-1]], 1)
        if one_way:
            memory = stack([f"encoder_l{i}_cell1" for i in range(2, depth[0] + 1)], memory)
        h = c = np.tanh(memory.mean(0) @ w["decoder_ff_state_W"] + w["decoder_ff_state_b"][0])
        keys = memory @ w["decoder_Wc_att"] + w["decoder_b_att"]
        rows = []
        high = {i: (h, c) for i in range(2, depth[1] + 1)}
        for x in np.concatenate([np.zeros((1, emb)), embed_target[target].astype(np.float64)]):
            h, c = cells["decoder_cell1"].step(x, h, c)
            weights = softmax((np.tanh(keys + h @ w["decoder_W_comb_att"]) @ w["decoder_U_att"])[:, 0])
            context = weights @ memory
            h, c = cells["decoder_cell2"].step(context, h, c)
            top = h
            for i in high:
                high[i] = cells[f"decoder_l{i}_cell1"].step(top, *high[i])
                top = high[i][0] + top if skip else high[i][0]
            parts = [v @ w[f"decoder_ff_logit_l1_W{i}"] + w[f"decoder_ff_logit_l1_b{i}"][0]
                     for i, v in enumerate((x, top, context))]
            rows.append(np.tanh(sum(parts)) @ output.astype(np.float64) + w["decoder_ff_logit_l2_b"][0])
        return np.array(rows)

    model = folder / "model"
    model.mkdir(parents=True)
    (model / "vocab.yml").write_text("".join(f'"{word}": {i}\n' for i, word in enumerate(tokens)))
    options = {"type": "amun" if amun else "s2s", "dim-rnn": dim, "dim-emb": emb, "enc-cell": kind, "dec-cell": kind,
               "enc-type": "bi-unidirectional" if one_way else "bidirectional", "enc-depth": depth[0],
               "enc-cell-depth": 1, "dec-depth": depth[1], "dec-cell-base-depth": 2, "dec-cell-high-depth": 1,
               "dec-attention-hops": 1, "skip": str(skip).lower(), "layer-normalization": "false",
               "dec-attention-projection-dim": -1}
    options |= change
    stored = dict(t)
    if tie == "all":
        stored["Wemb"] = embed_target
    else:
        stored |= {"encoder_Wemb": embed_source, "decoder_Wemb": embed_target}
    if tie == "none":
        stored["decoder_ff_logit_l2_W"] = output
    if amun:
        stored = {nematus_name(k): v for k, v in stored.items()} | {"decoder_c_tt": np.zeros((1, 0), np.float32)}
    text = "".join(f"{k}: {v}\n" for k, v in options.items())
    stored["special:model.yml"] = np.frombuffer(text.encode() + b"\0", np.int8)
    np.savez(model / "model.npz", **stored)
    write_case(folder, tokens, tokens, logits)


def nematus_name(name):
    """What Nematus, and so Marian's amun, calls a weight."""
    if name.startswith("decoder_cell1_"):
        return "decoder_" + name.rsplit("_", 1)[1]
    if name.startswith("decoder_cell2_"):
        part = name.rsplit("_", 1)[1]
        return {"W": "decoder_Wc", "Wx": "decoder_Wcx"}.get(part, f"decoder_{part}_nl")
    for number, part in enumerate(("prev", "lstm", "ctx")):
        for kind in "Wb":
            if name == f"decoder_ff_logit_l1_{kind}{number}":
                return f"ff_logit_{part}_{kind}"
    name = name.replace("encoder_bi_", "encoder_").replace("decoder_ff_logit_l2_", "ff_logit_")
    return {"encoder_Wemb": "Wemb", "decoder_Wemb": "Wemb_dec"}.get(name, name.replace("decoder_ff_state_", "ff_state_"))


def main():
    out = Path(sys.argv[1])
    marian(out / "marian-amun", amun=True)
    marian(out / "marian-amun-tied", amun=True, tie="all")
    marian(out / "marian-s2s", tie="target", lookup=7)
    marian(out / "marian-s2s-lstm", kind="lstm", tie="all")
    marian(out / "marian-s2s-deep", depth=(3, 3))
    marian(out / "marian-s2s-deep-lstm", kind="lstm", depth=(2, 2), tie="target")
    marian(out / "marian-s2s-skip", depth=(3, 3), skip=True)
    marian(out / "marian-s2s-skip-lstm", kind="lstm", depth=(2, 3), skip=True)
    marian(out / "marian-s2s-one-way", depth=(3, 1), one_way=True)
    marian(out / "marian-s2s-one-way-skip", kind="lstm", depth=(2, 2), one_way=True, skip=True)
    for name, change in {"transitions": {"enc-cell-depth": 2}, "high": {"dec-cell-high-depth": 2},
                         "alternating": {"enc-type": "alternating"}, "norm": {"layer-normalization": "true"},
                         "skip": {"enc-type": "bi-unidirectional", "skip": "true"}}.items():
        marian(out / f"refused-marian-{name}", depth=(3, 2), change=change)


if __name__ == "__main__":
    main()
