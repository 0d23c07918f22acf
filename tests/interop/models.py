"""Models with random weights in the formats of other programs, and the logits they give: an implementation of its own,
in NumPy and float64, from the formats' descriptions. Usage: models.py FOLDER [gpt2], where pieces.json and
pieces.spm are; with gpt2 the language models, else all others."""
import json
import math
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np

rng = np.random.default_rng(7)


erf = np.vectorize(math.erf)

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * 0.5 * (1 + erf(x / np.sqrt(2))),
    "gelu_new": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "swish": lambda x: x / (1 + np.exp(-x)),
}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Model:
    """Neutral weights: matrices [in, out]."""

    def __init__(self, source, target, dim=16, ffn=24, heads=4, layers=(2, 3), norm="post", activation="swish",
                 tie="all", epsilon=1e-5, scaled=True, positions="sinusoidal", first=0, embedding_norm=False,
                 start_zero=False, bias=True, ssru=False):
        self.__dict__.update(locals())
        normal = lambda *shape: (rng.standard_normal(shape) * 0.4).astype(np.float32)
        self.normal = normal
        self.embed_target = normal(target, dim)
        self.embed_source = self.embed_target if tie == "all" else normal(source, dim)
        self.output = normal(target, dim) if tie == "none" else self.embed_target
        self.output_bias = normal(target)
        self.learned = normal(40, dim) if positions == "learned" else None
        self.sides = []
        for side in range(2):
            blocks = []
            for _ in range(layers[side]):
                block = {"self": self.attention(), "self_norm": self.norm_weights(), "feed_norm": self.norm_weights(),
                         "w1": normal(dim, ffn), "b1": normal(ffn), "w2": normal(ffn, dim), "b2": normal(dim)}
                if side == 1:
                    block |= {"cross": self.attention(), "cross_norm": self.norm_weights()}
                    if ssru:
                        block["ssru"] = normal(dim, dim), normal(dim, dim), normal(dim)
                blocks.append(block)
            self.sides.append({"blocks": blocks, "last": self.norm_weights(), "embedding_norm": self.norm_weights()})

    def attention(self):
        part = {}
        for name in "qkvo":
            part["w" + name] = self.normal(self.dim, self.dim)
            part["b" + name] = self.normal(self.dim) if self.bias else np.zeros(self.dim, np.float32)
        return part

    def norm_weights(self):
        return (1 + 0.2 * self.normal(self.dim), self.normal(self.dim))

    def layer_norm(self, x, weights):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + self.epsilon) * weights[0] + weights[1]

    def waves(self, n):
        d = self.dim
        half = d // 2
        i = np.arange(half)
        rate = 10000.0 ** (-i / half) if self.positions == "sinusoidal" else np.exp(-i * np.log(10000.0) / (half - 1))
        angle = (self.first + np.arange(n))[:, None] * rate[None]
        return np.concatenate([np.sin(angle), np.cos(angle)], 1)

    def place(self, x):
        return x + (self.learned[:len(x)] if self.positions == "learned" else self.waves(len(x)))

    def attend(self, part, x, memory, causal):
        split = lambda y: y.reshape(len(y), self.heads, -1).transpose(1, 0, 2)
        q, k, v = (split(y @ part["w" + n].astype(np.float64) + part["b" + n])
                   for n, y in (("q", x), ("k", memory), ("v", memory)))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        if causal:
            scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
        context = (softmax(scores) @ v).transpose(1, 0, 2).reshape(len(x), -1)
        return context @ part["wo"].astype(np.float64) + part["bo"]

    def recur(self, weights, x):
        w, wf, bf = (v.astype(np.float64) for v in weights)
        cell, out = np.zeros(self.dim), []
        for value, gate in zip(x @ w, 1 / (1 + np.exp(-(x @ wf + bf)))):
            cell = gate * cell + (1 - gate) * value
            out.append(np.maximum(cell, 0))
        return np.array(out)

    def run(self, side, x, memory=None):
        pre = self.norm == "pre"
        part = self.sides[side]
        x = self.place(x)
        if self.embedding_norm:
            x = self.layer_norm(x, part["embedding_norm"])
        for block in part["blocks"]:
            feed = lambda y: ACTIVATIONS[self.activation](y @ block["w1"].astype(np.float64) + block["b1"]) @ block["w2"] + block["b2"]
            steps = [("self_norm", lambda y: self.recur(block["ssru"], y) if "ssru" in block else
                      self.attend(block["self"], y, y, side == 1))]
            if memory is not None:
                steps.append(("cross_norm", lambda y: self.attend(block["cross"], y, memory, False)))
            steps.append(("feed_norm", feed))
            for name, step in steps:
                x = x + step(self.layer_norm(x, block[name])) if pre else self.layer_norm(x + step(x), block[name])
        return self.layer_norm(x, part["last"]) if pre else x

    def logits(self, source, target, start):
        scale = np.sqrt(self.dim) if self.scaled else 1.0
        memory = self.run(0, self.embed_source[source].astype(np.float64) * scale)
        first = np.zeros(self.dim) if self.start_zero else self.embed_target[start].astype(np.float64) * scale
        fed = np.concatenate([first[None], self.embed_target[target].astype(np.float64) * scale])
        states = self.run(1, fed, memory)
        return states @ self.output.T.astype(np.float64) + self.output_bias


def write_npz(path, tensors):
    np.savez(path, **tensors)


def write_safetensors(path, tensors, dtype="F32"):
    header, blobs, at = {}, [], 0
    for name, value in tensors.items():
        data = value.astype(np.float16 if dtype == "F16" else np.float32).tobytes()
        header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [at, at + len(data)]}
        blobs.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def write_torch(path, tensors):
    """torch.save's zip format, its pickle written operation by operation."""
    out = bytearray(b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(")
    text = lambda s: b"X" + struct.pack("<I", len(s.encode())) + s.encode()
    integer = lambda i: b"K" + bytes([i]) if i < 256 else b"J" + struct.pack("<i", i)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for key, (name, value) in enumerate(tensors.items()):
            strides = [int(s // 4) for s in value.astype(np.float32).strides]
            out += text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n("
            out += b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(str(key)) + text("cpu") + integer(value.size) + b"tQ"
            out += integer(0) + b"(" + b"".join(map(integer, value.shape)) + b"t(" + b"".join(map(integer, strides)) + b"t"
            out += b"\x89ccollections\nOrderedDict\n)RtR"
            archive.writestr(f"archive/data/{key}", value.astype(np.float32).tobytes())
        out += b"u}" + text("_metadata") + b"ccollections\nOrderedDict\n)Rsb."
        archive.writestr("archive/data.pkl", bytes(out))
        archive.writestr("archive/version", b"3\n")


def shuffled(tokens):
    return [tokens[int(i)] for i in rng.permutation(len(tokens))]


def marianmt(folder, model, pieces, weights="safetensors", dtype="F32", two=False):
    """Hugging Face's layout: matrices [out, in]; vocab.json numbers the pieces in an order of its own, and with `two`
    target_vocab.json those of the target in another."""
    tokens = ["</s>", "<unk>"] + shuffled(pieces) + ["<pad>"]
    target_tokens = ["</s>", "<unk>"] + shuffled(pieces) + ["<pad>"] if two else tokens
    pad = len(tokens) - 1
    (folder / "vocab.json").write_text(json.dumps({t: i for i, t in enumerate(tokens)}))
    if two:
        (folder / "target_vocab.json").write_text(json.dumps({t: i for i, t in enumerate(target_tokens)}))
    t = {}
    if model.tie == "all":
        t["model.shared.weight"] = model.embed_target
    else:
        t["model.encoder.embed_tokens.weight"] = model.embed_source
        t["model.decoder.embed_tokens.weight"] = model.embed_target
        if model.tie == "none":
            t["lm_head.weight"] = model.output
    t["final_logits_bias"] = model.output_bias[None]
    for side, name in enumerate(("encoder", "decoder")):
        part = model.sides[side]
        put_norm = lambda at, w: t.update({at + ".weight": w[0], at + ".bias": w[1]})
        if model.norm == "pre":
            put_norm(f"model.{name}.layer_norm", part["last"])
        if model.embedding_norm:
            put_norm(f"model.{name}.layernorm_embedding", part["embedding_norm"])
        if model.learned is not None:
            t[f"model.{name}.embed_positions.weight"] = model.learned
        for i, block in enumerate(part["blocks"]):
            at = f"model.{name}.layers.{i}"
            for ours, theirs in (("self", "self_attn"), ("cross", "encoder_attn")):
                if ours not in block:
                    continue
                for letter, proj in (("q", "q_proj"), ("k", "k_proj"), ("v", "v_proj"), ("o", "out_proj")):
                    t[f"{at}.{theirs}.{proj}.weight"] = np.ascontiguousarray(block[ours]["w" + letter].T)
                    if model.bias:
                        t[f"{at}.{theirs}.{proj}.bias"] = block[ours]["b" + letter]
                put_norm(f"{at}.{theirs}_layer_norm", block[ours + "_norm"])
            put_norm(f"{at}.final_layer_norm", block["feed_norm"])
            for letter, layer in (("1", "fc1"), ("2", "fc2")):
                t[f"{at}.{layer}.weight"] = np.ascontiguousarray(block["w" + letter].T)
                t[f"{at}.{layer}.bias"] = block["b" + letter]
    if weights == "safetensors":
        write_safetensors(folder / "model.safetensors", t, dtype)
    else:
        write_torch(folder / "pytorch_model.bin", t)
    config = {"model_type": "marian", "d_model": model.dim, "activation_function": model.activation,
              "scale_embedding": model.scaled, "pad_token_id": pad, "eos_token_id": 0, "decoder_start_token_id": pad,
              "bad_words_ids": [[pad]], "vocab_size": len(tokens), "tie_word_embeddings": model.tie != "none",
              "static_position_embeddings": model.learned is None, "normalize_before": model.norm == "pre"}
    for side, name in enumerate(("encoder", "decoder")):
        config |= {f"{name}_layers": model.layers[side], f"{name}_ffn_dim": model.ffn, f"{name}_attention_heads": model.heads}
    (folder / "config.json").write_text(json.dumps(config))
    return tokens, target_tokens, {"<pad>": "<s>"}, pad


def write_shortlist(path, frequent, lists):
    """A binary lexical shortlist: a header, where the list of each source token begins, all lists."""
    begins = np.cumsum([0] + [len(part) for part in lists]).astype("<u8")
    body = struct.pack("<4Q", frequent, 50, len(begins), int(begins[-1])) + begins.tobytes()
    body += np.array([i for part in lists for i in part], "<u4").tobytes()
    checksum = 0
    for (word,) in struct.iter_unpack("<Q", body[:len(body) // 8 * 8]):
        checksum ^= (word + 0x9E3779B9 + (checksum << 6) + (checksum >> 2)) % (1 << 64)
    path.write_bytes(struct.pack("<2Q", 0xF11A48D5013417F5, checksum) + body)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def marians_sentencepiece(data):
    """A SentencePiece model as Marian trains it: </s> first, then <unk>, no other special tokens. Messages of its pieces
    are field 1: the text, a score, and a kind, which ordinary pieces may leave out."""
    fields, at = [], 0
    while at < len(data):
        tag, begin = varint(data, at)
        size, body = varint(data, begin)
        assert tag & 7 == 2 and size < 1 << 20
        fields.append((tag >> 3, data[at:body + size], data[body:body + size]))
        at = body + size
    text = lambda piece: piece[2:2 + piece[1]]
    special = {text(body): whole for number, whole, body in fields if number == 1 and text(body) in (b"</s>", b"<unk>")}
    ordinary = [whole for number, whole, body in fields
                if number == 1 and text(body) not in (b"<pad>", b"<unk>", b"<s>", b"</s>")]
    return b"".join([special[b"</s>"], special[b"<unk>"], *ordinary, *(whole for number, whole, _ in fields if number != 1)])


def marian(folder, model, words, binary=False, int8=False, shortlist=False, two=False, spm=False):
    tokens = target_tokens = ["</s>", "<unk>"] + words
    if two:
        target_tokens = ["</s>", "<unk>"] + shuffled(words)
    spelled = lambda t: "'" + t.replace("'", "''") + "'" if t.startswith("<") else '"' + t + '"'
    for name, side in (("vocab.src", tokens), ("vocab.trg", target_tokens)) if two else (("vocab", tokens),):
        if not spm:
            (folder / f"{name}.yml").write_text("".join(f"{spelled(t)}: {i}\n" for i, t in enumerate(side)))
    if spm:
        (folder / "vocab.spm").write_bytes(marians_sentencepiece((folder.parents[1] / "pieces.spm").read_bytes()))
    t = {}
    if model.tie == "all":
        t["Wemb"] = model.embed_target
    else:
        t["encoder_Wemb"], t["decoder_Wemb"] = model.embed_source, model.embed_target
        if model.tie == "none":
            t["decoder_ff_logit_out_W"] = np.ascontiguousarray(model.output.T)
    t["decoder_ff_logit_out_b"] = model.output_bias[None]
    if model.learned is not None:
        t["Wpos"] = model.learned
    put_norm = lambda at, w, after="": t.update({f"{at}_ln_scale{after}": w[0][None], f"{at}_ln_bias{after}": w[1][None]})
    for side, name in enumerate(("encoder", "decoder")):
        part = model.sides[side]
        if model.norm == "pre":
            put_norm(f"{name}_top", part["last"])
        if model.embedding_norm:
            put_norm(f"{name}_emb", part["embedding_norm"], "_pre")
        for i, block in enumerate(part["blocks"]):
            at = f"{name}_l{i + 1}"
            after = "_pre" if model.norm == "pre" else ""
            for ours, theirs in (("self", "self"), ("cross", "context")):
                if ours not in block or (ours == "self" and "ssru" in block):
                    continue
                for letter in "qkvo":
                    t[f"{at}_{theirs}_W{letter}"] = block[ours]["w" + letter]
                    t[f"{at}_{theirs}_b{letter}"] = block[ours]["b" + letter][None]
                put_norm(f"{at}_{theirs}_Wo", block[ours + "_norm"], after)
            if "ssru" in block:
                t[f"{at}_rnn_W"], t[f"{at}_rnn_Wf"], t[f"{at}_rnn_bf"] = *block["ssru"][:2], block["ssru"][2][None]
                put_norm(f"{at}_rnn_ffn", block["self_norm"], after)
            put_norm(f"{at}_ffn_ffn", block["feed_norm"], after)
            for letter in "12":
                t[f"{at}_ffn_W{letter}"], t[f"{at}_ffn_b{letter}"] = block["w" + letter], block["b" + letter][None]
    pre = model.norm == "pre"
    options = {"type": "transformer", "dim-emb": model.dim, "transformer-heads": model.heads, "enc-depth": model.layers[0],
               "dec-depth": model.layers[1], "transformer-dim-ffn": model.ffn, "transformer-ffn-activation": model.activation,
               "transformer-preprocess": "n" if pre else '""', "transformer-postprocess": "da" if pre else "dan",
               "transformer-postprocess-top": "n" if pre else '""',
               "transformer-postprocess-emb": "nd" if model.embedding_norm else "d",
               "transformer-decoder-autoreg": "rnn" if model.ssru else "self-attention",
               "dec-cell": "ssru" if model.ssru else "gru", "transformer-no-projection": "false"}
    text = "".join(f"{k}: {v}\n" for k, v in options.items()) + "input-types:\n  []\n"
    t["special:model.yml"] = np.frombuffer(text.encode() + b"\0", np.int8)
    if not binary:
        write_npz(folder / "model.npz", t)
    else:
        header, names, shapes, data = b"", b"", b"", b""
        if int8:
            t["none_QuantMultA"] = np.ones((1, 1), np.float32)
        for key, value in t.items():
            kind = 0x0101 if value.dtype == np.int8 else 0x0404
            raw = value.tobytes()
            if int8 and (key.endswith("Wemb") or key[-3:-1] == "_W" or key.endswith("_W")):
                kind = 0x4101 if "encoder" in key else 0x10101
                scale = np.float32(127 / np.abs(value).max())
                rounded = np.rint(value * scale).astype(np.int8)
                value[...] = rounded / scale  # what the numbers are worth once they are read again
                raw = (rounded if "Wemb" in key else np.ascontiguousarray(rounded.T)).tobytes() + scale.tobytes()
            raw += b"\0" * (-len(raw) % 256)
            header += struct.pack("<4Q", len(key) + 1, kind, value.ndim, len(raw))
            names += key.encode() + b"\0"
            shapes += struct.pack(f"<{value.ndim}i", *value.shape)
            data += raw
        head = struct.pack("<2Q", 1, len(t)) + header + names + shapes
        padding = -(len(head) + 8) % 256
        (folder / "model.bin").write_bytes(head + struct.pack("<Q", padding) + b"\0" * padding + data)
    if shortlist:  # each token becomes the next or the one behind it, and 3 tokens are in every line
        write_shortlist(folder / "lex.50.50.ende.s2t.bin", 3, [[(i + 1) % len(tokens), (i + 2) % len(tokens)] for i in range(len(tokens))])
    return tokens, target_tokens, {}, None


def ctranslate2(folder, model, words, version=6, kind="float32", config=True, end=True):
    tokens = ["<blank>", "<s>", "</s>", "<unk>"] + words
    if version >= 6:
        for side in ("source", "target"):
            (folder / f"{side}_vocabulary.json").write_text(json.dumps(tokens))
    else:
        (folder / "shared_vocabulary.txt").write_text("\n".join(tokens) + "\n")
    t = {}
    encoder_table = "encoder/embeddings_0" if version >= 5 else "encoder/embeddings"
    t[encoder_table + "/weight"] = model.embed_source
    t["decoder/embeddings/weight"] = model.embed_target
    t["decoder/projection/weight"] = model.output
    t["decoder/projection/bias"] = model.output_bias
    stack = lambda part, names: (np.concatenate([part["w" + n].T for n in names]), np.concatenate([part["b" + n] for n in names]))
    for side, name in enumerate(("encoder", "decoder")):
        part = model.sides[side]
        put_norm = lambda at, w: t.update({at + "/gamma": w[0], at + "/beta": w[1]})
        put = lambda at, wb: t.update({at + "/weight": np.ascontiguousarray(wb[0]), at + "/bias": wb[1]})
        if model.norm == "pre":
            put_norm(f"{name}/layer_norm", part["last"])
        if model.embedding_norm:
            put_norm(f"{name}/layernorm_embedding", part["embedding_norm"])
        t[f"{name}/num_heads"] = np.int16(model.heads)
        t[f"{name}/pre_norm"] = np.int8(model.norm == "pre")
        t[f"{name}/activation"] = np.int8(["relu", "gelu_new", "swish", "gelu"].index(model.activation))
        t[f"{name}/scale_embeddings"] = np.int8(model.scaled)
        if model.learned is not None:
            t[f"{name}/position_encodings/encodings"] = model.learned
        if model.positions == "sinusoidal":
            t[f"{name}/position_encodings/encodings"] = model.waves(50).astype(np.float32)
        for i, block in enumerate(part["blocks"]):
            at = f"{name}/layer_{i}"
            put(f"{at}/self_attention/linear_0", stack(block["self"], "qkv"))
            put(f"{at}/self_attention/linear_1", stack(block["self"], "o"))
            put_norm(f"{at}/self_attention/layer_norm", block["self_norm"])
            if side == 1:
                put(f"{at}/attention/linear_0", stack(block["cross"], "q"))
                put(f"{at}/attention/linear_1", stack(block["cross"], "kv"))
                put(f"{at}/attention/linear_2", stack(block["cross"], "o"))
                put_norm(f"{at}/attention/layer_norm", block["cross_norm"])
            put_norm(f"{at}/ffn/layer_norm", block["feed_norm"])
            put(f"{at}/ffn/linear_0", (block["w1"].T, block["b1"]))
            put(f"{at}/ffn/linear_1", (block["w2"].T, block["b2"]))
    aliases = []
    if model.start_zero:
        t["decoder/start_from_zero_embedding"] = np.int8(1)
    stored = {}
    for name, value in sorted(t.items()):
        value = np.asarray(value)
        if name.endswith("weight") and kind == "int8":
            scale = (127.0 / np.abs(value).max(1)).astype(np.float32)
            stored[name], stored[name + "_scale"] = np.rint(value * scale[:, None]).astype(np.int8), scale
        elif name.endswith("weight") and kind == "int16":
            scale = np.float32(2**10 / np.abs(value).max())
            stored[name], stored[name + "_scale"] = np.rint(value * scale).astype(np.int16), scale
        elif value.dtype == np.float32 and value.ndim > 0 and kind == "float16":
            stored[name] = value.astype(np.float16)
        else:
            stored[name] = value
    if version >= 3:
        for name in ("decoder/projection/weight", encoder_table + "/weight"):
            if name in stored and (t[name] is model.embed_target):
                del stored[name]
                stored.pop(name + "_scale", None)
                aliases.append((name, "decoder/embeddings/weight"))
    string = lambda s: struct.pack("<H", len(s.encode()) + 1) + s.encode() + b"\0"
    out = struct.pack("<I", version) + string("TransformerSpec") + struct.pack("<II", 7, len(stored))
    types = {np.dtype(n): i for i, n in enumerate(("float32", "int8", "int16", "int32", "float16"))}
    for name, value in stored.items():
        value = np.asarray(value)
        out += string(name) + struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape)
        raw = value.tobytes()
        if version >= 4:
            out += struct.pack("<BI", types[value.dtype], len(raw))
        else:
            out += struct.pack("<BI", value.dtype.itemsize, value.size)
        out += raw
    if version >= 3:
        out += struct.pack("<I", len(aliases)) + b"".join(string(a) + string(b) for a, b in aliases)
    (folder / "model.bin").write_bytes(out)
    # What the numbers are worth once they are read again.
    dequantized = {}
    for name, value in t.items():
        source = dict(aliases).get(name, name)
        q = np.asarray(stored[source])
        if q.dtype in (np.int8, np.int16) and name.endswith("weight"):
            scale = stored[source + "_scale"]
            dequantized[name] = q / (scale[:, None] if np.ndim(scale) else scale)
        else:
            dequantized[name] = q.astype(np.float32)
    model.embed_source, model.embed_target = dequantized[encoder_table + "/weight"], dequantized["decoder/embeddings/weight"]
    model.output, model.output_bias = dequantized["decoder/projection/weight"], dequantized["decoder/projection/bias"]
    if model.learned is not None:
        model.learned = dequantized["encoder/position_encodings/encodings"]
    for side, name in enumerate(("encoder", "decoder")):
        get_norm = lambda at: (dequantized[at + "/gamma"], dequantized[at + "/beta"])
        part = model.sides[side]
        if model.norm == "pre":
            part["last"] = get_norm(f"{name}/layer_norm")
        if model.embedding_norm:
            part["embedding_norm"] = get_norm(f"{name}/layernorm_embedding")
        for i, block in enumerate(part["blocks"]):
            at = f"{name}/layer_{i}"
            def unstack(part, names, key):
                w, b = dequantized[key + "/weight"], dequantized[key + "/bias"]
                for j, n in enumerate(names):
                    part["w" + n], part["b" + n] = w[j * model.dim:(j + 1) * model.dim].T, b[j * model.dim:(j + 1) * model.dim]
            unstack(block["self"], "qkv", f"{at}/self_attention/linear_0")
            unstack(block["self"], "o", f"{at}/self_attention/linear_1")
            block["self_norm"] = get_norm(f"{at}/self_attention/layer_norm")
            if side == 1:
                unstack(block["cross"], "q", f"{at}/attention/linear_0")
                unstack(block["cross"], "kv", f"{at}/attention/linear_1")
                unstack(block["cross"], "o", f"{at}/attention/linear_2")
                block["cross_norm"] = get_norm(f"{at}/attention/layer_norm")
            block["feed_norm"] = get_norm(f"{at}/ffn/layer_norm")
            for letter, layer in (("1", "linear_0"), ("2", "linear_1")):
                block["w" + letter] = dequantized[f"{at}/ffn/{layer}/weight"].T
                block["b" + letter] = dequantized[f"{at}/ffn/{layer}/bias"]
    if config:
        (folder / "config.json").write_text(json.dumps({
            "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "decoder_start_token": "<s>",
            "add_source_bos": False, "add_source_eos": end, "layer_norm_epsilon": None}))
    return tokens, tokens, {"<blank>": "<pad>"} | ({"<s>": "<s>#1"} if model.start_zero else {}), 1


def byte_characters():
    """GPT-2's character for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table, extra = {b: chr(b) for b in printable}, 0
    for b in range(256):
        if b not in table:
            table[b], extra = chr(256 + extra), extra + 1
    return table


def byte_pairs(folder):
    """A vocabulary of all bytes and a few merges."""
    table = byte_characters()
    merges = [("t", "h"), ("th", "e"), ("\u0120", "c"), ("\u0120c", "a"), ("a", "t"), ("\u0120", "the"), ("o", "o"),
              ("\u00c3", "\u00a9"), ("\u0120", "\u0120"), ("e", "e"), ("ee", "e")]
    tokens = [table[b] for b in range(256)] + [a + b for a, b in merges] + ["<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({t: i for i, t in enumerate(tokens)}))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges), encoding="utf-8")
    return tokens


def gpt2(out, name, weights="safetensors", prefix="", tied=True, ct2=None):
    """A decoder alone, with the logits of some ids; and as CTranslate2 stores it."""
    folder = out / name / "model"
    folder.mkdir(parents=True)
    tokens = byte_pairs(folder)
    model = Model(len(tokens), len(tokens), norm="pre", activation="gelu_new", positions="learned", scaled=False,
                  layers=(0, 3), tie="target" if tied else "none", epsilon=1e-5)
    part, t = model.sides[1], {}
    put_norm = lambda at, w: t.update({f"{at}.weight": w[0], f"{at}.bias": w[1]})
    t["wte.weight"], t["wpe.weight"] = model.embed_target, model.learned
    put_norm("ln_f", part["last"])
    for i, block in enumerate(part["blocks"]):
        at, heads = f"h.{i}", block["self"]
        put_norm(f"{at}.ln_1", block["self_norm"])
        put_norm(f"{at}.ln_2", block["feed_norm"])
        t[f"{at}.attn.c_attn.weight"] = np.concatenate([heads["w" + n] for n in "qkv"], 1)
        t[f"{at}.attn.c_attn.bias"] = np.concatenate([heads["b" + n] for n in "qkv"])
        t[f"{at}.attn.c_proj.weight"], t[f"{at}.attn.c_proj.bias"] = heads["wo"], heads["bo"]
        t[f"{at}.mlp.c_fc.weight"], t[f"{at}.mlp.c_fc.bias"] = block["w1"], block["b1"]
        t[f"{at}.mlp.c_proj.weight"], t[f"{at}.mlp.c_proj.bias"] = block["w2"], block["b2"]
        t[f"{at}.attn.bias"] = np.tril(np.ones((40, 40), np.float32))[None, None]  # the mask of older files
    t = {prefix + k: v for k, v in t.items()}
    if not tied:
        t["lm_head.weight"] = model.output
    if ct2 is not None:
        ctranslate2_decoder(folder, model, tokens, ct2)
    else:
        (write_safetensors if weights == "safetensors" else write_torch)(
            folder / ("model.safetensors" if weights == "safetensors" else "pytorch_model.bin"), t)
        (folder / "config.json").write_text(json.dumps({
            "model_type": "gpt2", "n_layer": 3, "n_embd": model.dim, "n_head": model.heads, "n_inner": model.ffn,
            "n_positions": 40, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "vocab_size": len(tokens),
            "bos_token_id": len(tokens) - 1, "eos_token_id": len(tokens) - 1, "tie_word_embeddings": tied}))
    ids = [int(i) for i in rng.choice(len(tokens) - 1, 9)]
    states = model.run(1, model.embed_target[ids].astype(np.float64))
    logits = states @ model.output.T.astype(np.float64)
    np.save(out / name / "logits.npy", logits.astype(np.float32))
    (out / name / "case.json").write_text(json.dumps({
        "fed": [tokens[i] for i in ids], "vocabulary": [{"<|endoftext|>": "</s>"}.get(t, t) for t in tokens]}))


def ctranslate2_decoder(folder, model, tokens, version):
    """GPT-2 as CTranslate2 converts it: no encoder, one vocabulary."""
    (folder / "vocab.json").unlink()
    if version >= 6:
        (folder / "vocabulary.json").write_text(json.dumps(tokens))
    else:
        (folder / "vocabulary.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    part, t = model.sides[1], {}
    put_norm = lambda at, w: t.update({at + "/gamma": w[0], at + "/beta": w[1]})
    t["decoder/embeddings/weight"], t["decoder/projection/weight"] = model.embed_target, model.output
    t["decoder/position_encodings/encodings"] = model.learned
    t["decoder/num_heads"], t["decoder/pre_norm"] = np.int16(model.heads), np.int8(1)
    t["decoder/activation"], t["decoder/scale_embeddings"] = np.int8(1), np.int8(0)
    put_norm("decoder/layer_norm", part["last"])
    for i, block in enumerate(part["blocks"]):
        at, heads = f"decoder/layer_{i}", block["self"]
        put = lambda key, w, b: t.update({f"{at}/{key}/weight": np.ascontiguousarray(w.T), f"{at}/{key}/bias": b})
        put("self_attention/linear_0", np.concatenate([heads["w" + n] for n in "qkv"], 1),
            np.concatenate([heads["b" + n] for n in "qkv"]))
        put("self_attention/linear_1", heads["wo"], heads["bo"])
        put("ffn/linear_0", block["w1"], block["b1"])
        put("ffn/linear_1", block["w2"], block["b2"])
        put_norm(f"{at}/self_attention/layer_norm", block["self_norm"])
        put_norm(f"{at}/ffn/layer_norm", block["feed_norm"])
    string = lambda s: struct.pack("<H", len(s.encode()) + 1) + s.encode() + b"\0"
    types = {np.dtype(n): i for i, n in enumerate(("float32", "int8", "int16", "int32", "float16"))}
    aliases = []
    if version >= 3 and model.output is model.embed_target:
        del t["decoder/projection/weight"]
        aliases.append(("decoder/projection/weight", "decoder/embeddings/weight"))
    data = struct.pack("<I", version) + string("TransformerDecoderSpec") + struct.pack("<II", 8, len(t))
    for name, value in sorted(t.items()):
        value = np.asarray(value)
        data += string(name) + struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape)
        raw = value.tobytes()
        data += struct.pack("<BI", types[value.dtype], len(raw)) if version >= 4 else struct.pack(
            "<BI", value.dtype.itemsize, value.size)
        data += raw
    if version >= 3:
        data += struct.pack("<I", len(aliases)) + b"".join(string(a) + string(b) for a, b in aliases)
    (folder / "model.bin").write_bytes(data)
    (folder / "config.json").write_text(json.dumps({
        "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>",
        "layer_norm_epsilon": 1e-5}))


def write_case(out, name, make, model_options, how):
    end = how.get("end", True)
    folder = out / name / "model"
    folder.mkdir(parents=True)
    words = [f"w{i}" for i in range(19)]
    pieces = json.loads((out / "pieces.json").read_text())
    spm = make is marianmt or how.get("spm", False)
    count = len(pieces if spm else words) + {marianmt: 3, ctranslate2: 4, marian: 2}[make]
    model = Model(count, count, **model_options)
    if make is marianmt:
        for side in ("source", "target"):
            (folder / f"{side}.spm").write_bytes((out / "pieces.spm").read_bytes())
    source_tokens, target_tokens, spelled, start = make(folder, model, pieces if spm else words, **how)
    if how.get("dtype") == "F16":
        for value in (model.embed_target, model.embed_source, model.output, model.output_bias):
            value[...] = value.astype(np.float16)
        for part in model.sides:
            for block in part["blocks"]:
                for key, value in block.items():
                    for array in (value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]):
                        array[...] = array.astype(np.float16)
    ordinary = [i for i, t in enumerate(source_tokens) if not t.startswith("<")]
    source = [int(i) for i in rng.choice(ordinary, 6)]
    target = [int(i) for i in rng.choice(ordinary, 5)]
    eos = source_tokens.index("</s>")
    logits = model.logits(source + ([eos] if end else []), target, start)
    np.save(out / name / "logits.npy", logits.astype(np.float32))
    (out / name / "case.json").write_text(json.dumps({
        "source": [source_tokens[i] for i in source], "target": [target_tokens[i] for i in target],
        "vocabulary": [spelled.get(t, t) for t in target_tokens]}))


def main():
    out = Path(sys.argv[1])
    if sys.argv[2:] == ["gpt2"]:
        gpt2(out, "gpt2-tied")
        gpt2(out, "gpt2-untied", prefix="transformer.", tied=False)
        gpt2(out, "gpt2-torch", weights="torch", prefix="transformer.")
        gpt2(out, "gpt2-ct2-v3", ct2=3)
        gpt2(out, "gpt2-ct2-v6", tied=False, ct2=6)
        return
    post, pre = {"norm": "post"}, {"norm": "pre"}
    cases = [
        ("marianmt-tied", marianmt, post | {"activation": "swish"}, {}),
        ("marianmt-untied", marianmt, post | {"tie": "none", "activation": "relu"}, {}),
        ("marianmt-target", marianmt, post | {"tie": "target", "activation": "gelu", "scaled": False}, {}),
        ("marianmt-pre", marianmt, pre | {"activation": "gelu_new", "embedding_norm": True, "positions": "learned"}, {}),
        ("marianmt-torch", marianmt, post | {"activation": "gelu", "tie": "none"}, {"weights": "torch"}),
        ("marianmt-half", marianmt, post | {"bias": False}, {"dtype": "F16"}),
        ("marianmt-two", marianmt, post | {"tie": "target"}, {"two": True}),
    ]
    timing = {"positions": "timing", "epsilon": 1e-6, "start_zero": True}
    cases += [
        ("marian-tied", marian, post | timing, {}),
        ("marian-untied", marian, post | timing | {"tie": "none", "activation": "relu"}, {}),
        ("marian-pre", marian, pre | timing | {"tie": "target", "activation": "gelu"}, {}),
        ("marian-learned", marian, pre | timing | {"positions": "learned", "embedding_norm": True}, {}),
        ("marian-two", marian, post | timing | {"tie": "none"}, {"two": True}),
        ("marian-spm", marian, post | timing, {"binary": True, "spm": True}),
        ("marian-bin", marian, post | timing | {"tie": "none"}, {"binary": True}),
        ("marian-int8", marian, post | timing | {"tie": "target"}, {"binary": True, "int8": True}),
        ("marian-ssru", marian, post | timing | {"ssru": True, "activation": "relu"}, {"binary": True, "int8": True, "shortlist": True}),
    ]
    timing = {"positions": "timing", "first": 1}
    cases += [
        ("ct2-v2", ctranslate2, pre | timing | {"tie": "none", "activation": "relu"}, {"version": 2}),
        ("ct2-v3", ctranslate2, pre | timing | {"tie": "target", "activation": "relu"}, {"version": 3, "kind": "int16"}),
        ("ct2-v4", ctranslate2, post | timing | {"activation": "gelu"}, {"version": 4, "kind": "float16", "end": False}),
        ("ct2-v5", ctranslate2, post | {"positions": "learned", "scaled": False, "activation": "swish"}, {"version": 5}),
        ("ct2-v6", ctranslate2, pre | timing | {"activation": "gelu_new", "embedding_norm": True}, {"version": 6, "kind": "int8"}),
        ("ct2-zero", ctranslate2, post | {"positions": "sinusoidal", "start_zero": True, "tie": "none"}, {"version": 6}),
    ]
    for name, make, options, how in cases:
        write_case(out, name, make, options, how)


main()
