"""OpenNMT-py's RNNs with random weights as checkpoints, and the logits they give: an implementation of its own, in NumPy
and float64, from the format's description. Usage: opennmt_models.py FOLDER."""
import argparse
import collections
import functools
import io
import pickle
import sys
import types
import zipfile
from pathlib import Path

import numpy as np

from rnn_models import WORDS, normal, sigmoid, softmax, write_case


def stranger(module, name, base=object):
    """A class or function that a pickle names, as it would be in a module that need not be here."""
    parts = module.split(".")
    for i in range(len(parts)):
        above = ".".join(parts[:i + 1])
        made = sys.modules.setdefault(above, types.ModuleType(above))
    thing = type(name, (base,), {}) if base is not None else types.FunctionType((lambda: None).__code__, {}, name)
    thing.__module__, thing.__qualname__ = module, name
    setattr(made, name, thing)
    return thing


FloatStorage, HalfStorage = stranger("torch", "FloatStorage"), stranger("torch", "HalfStorage")
rebuild = stranger("torch._utils", "_rebuild_tensor_v2", None)
RawField = stranger("torchtext.data.field", "RawField")
Field = stranger("torchtext.data.field", "Field", RawField)
MultiField = stranger("onmt.inputters.text_dataset", "TextMultiField", RawField)
feature_tokenize = stranger("onmt.inputters.text_dataset", "_feature_tokenize", None)
Vocab = stranger("torchtext.vocab", "Vocab")
int64 = stranger("torch", "int64")


class Storage:
    def __init__(self, values):
        self.values = values


class SavedTensor:
    """Part of a storage from `offset` on, row by row."""

    def __init__(self, storage, offset, shape):
        self.parts = storage, offset, shape

    def __reduce__(self):
        storage, offset, shape = self.parts
        strides = tuple(int(np.prod(shape[i + 1:])) for i in range(len(shape)))
        return rebuild, (storage, offset, shape, strides, False, collections.OrderedDict())


def save(path, value):
    """torch.save: a pickle of protocol 2 in which storages are persistent, and a file for each."""
    storages = []

    class Pickler(pickle.Pickler):
        def persistent_id(self, thing):
            if not isinstance(thing, Storage):
                return None
            if thing not in storages:
                storages.append(thing)
            kind = HalfStorage if thing.values.dtype == np.float16 else FloatStorage
            return "storage", kind, str(storages.index(thing)), "cpu", thing.values.size

    out = io.BytesIO()
    Pickler(out, protocol=2).dump(value)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("model/data.pkl", out.getvalue())
        for i, storage in enumerate(storages):
            archive.writestr(f"model/data/{i}", storage.values.tobytes())


def tensors(named, dtype):
    """As PyTorch has them: arrays that are one in the model share a storage, those of an RNN are parts of one."""
    made, out = {}, collections.OrderedDict()
    flat = [v for k, v in named.items() if k.startswith("encoder.rnn.")]
    if flat:
        storage, at = Storage(np.concatenate([v.ravel() for v in flat]).astype(dtype)), 0
        for v in flat:
            made[id(v)] = SavedTensor(storage, at, v.shape)
            at += v.size
    for name, v in named.items():
        out[name] = made.setdefault(id(v), SavedTensor(Storage(v.ravel().astype(dtype)), 0, v.shape))
    return out


def fields(tokens):
    """The vocabulary of a side as torchtext's field, up to OpenNMT-py 2."""
    vocab = Vocab()
    vocab.freqs = collections.Counter({t: 3 for t in tokens})
    vocab.itos, vocab.stoi, vocab.vectors = tokens, dict(zip(tokens, range(len(tokens)))), None
    words = Field()
    words.__dict__ |= {"sequential": True, "pad_token": "<blank>", "dtype": int64, "preprocessing": str.split, "vocab": vocab, "lower": False,
                       "tokenize": functools.partial(feature_tokenize, layer=0, feat_delim=None, truncate=None)}
    both = MultiField()
    both.__dict__ |= {"preprocessing": None, "is_target": False, "fields": [("words", words)]}
    return both


def cell_weights(inputs, dim, gates):
    return {"weight_ih": normal(gates * dim, inputs), "weight_hh": normal(gates * dim, dim),
            "bias_ih": normal(gates * dim), "bias_hh": normal(gates * dim)}


def step(w, x, h, c):
    """PyTorch's LSTM, gates i, f, g, o, or GRU, gates r, z, n."""
    w = {k: v.astype(np.float64) for k, v in w.items()}
    a, b = w["weight_ih"] @ x + w["bias_ih"], w["weight_hh"] @ h + w["bias_hh"]
    if len(a) == 4 * len(h):
        i, f, g, o = np.split(a + b, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    (ar, az, an), (br, bz, bn) = np.split(a, 3), np.split(b, 3)
    r, z = sigmoid(ar + br), sigmoid(az + bz)
    n = np.tanh(an + r * bn)
    return (1 - z) * n + z * h, c


def opennmt(folder, layers=2, gates=4, both_ways=True, feeding=True, score="general", version=3, tie="none",
            dtype=np.float32, widths=(8, 9), change=lambda checkpoint: None):
    dim = 12
    units = dim // 2 if both_ways else dim
    specials = ["<unk>", "<blank>", "<s>", "</s>"]
    target_tokens = specials + WORDS
    source_tokens = target_tokens if tie == "all" or version > 2 else specials[:2] + WORDS[::-1]
    if tie != "none":
        widths = (dim, dim)
    embed_target = normal(len(target_tokens), widths[1])
    embed_source = embed_target if tie == "all" else normal(len(source_tokens), widths[0])
    output = normal(len(target_tokens), dim) if tie == "none" else embed_target
    bias = normal(len(target_tokens))
    sides = ["", "_reverse"] if both_ways else [""]
    encoder = [[cell_weights(widths[0] if i == 0 else dim, units, gates) for _ in sides] for i in range(layers)]
    fed = dim if feeding else 0
    decoder = [cell_weights(widths[1] + fed if i == 0 else dim, dim, gates) for i in range(layers)]
    table = "embeddings.make_embedding.emb_luts.0.weight"
    model = {f"encoder.{table}": embed_source}
    for i, layer in enumerate(encoder):
        for side, weights in zip(sides, layer):
            model |= {f"encoder.rnn.{k}_l{i}{side}": v for k, v in weights.items()}
    model[f"decoder.{table}"] = embed_target
    for i, weights in enumerate(decoder):
        model |= {(f"decoder.rnn.layers.{i}.{k}" if feeding else f"decoder.rnn.{k}_l{i}"): v for k, v in weights.items()}
    if score == "general":
        model["decoder.attn.linear_in.weight"] = normal(dim, dim)
    model["decoder.attn.linear_out.weight"] = normal(dim, 2 * dim)
    if dtype == np.float16:
        for v in [*model.values(), output, bias]:
            v[:] = v.astype(np.float16)

    def logits(source, target):
        w = {k: v.astype(np.float64) for k, v in model.items()}
        x = w[f"encoder.{table}"][source]
        first = []
        for layer in encoder:
            ways, last = [], []
            for side, weights in zip(sides, layer):
                h, c, states = np.zeros(units), np.zeros(units), []
                for value in (x[::-1] if side else x):
                    h, c = step(weights, value, h, c)
                    states.append(h)
                ways.append(np.array(states[::-1] if side else states))
                last.append((h, c))
            x = np.concatenate(ways, 1)
            first.append(tuple(np.concatenate(v) for v in zip(*last)))
        rows, attentional = [], np.zeros(fed)
        for value in w[f"decoder.{table}"][[target_tokens.index("<s>")] + target]:
            value = np.concatenate([value, attentional])
            for i, weights in enumerate(decoder):
                first[i] = step(weights, value, *first[i])
                value = first[i][0]
            query = w["decoder.attn.linear_in.weight"] @ value if score == "general" else value
            context = softmax(x @ query) @ x
            result = np.tanh(w["decoder.attn.linear_out.weight"] @ np.concatenate([context, value]))
            attentional = result[:fed]
            rows.append(output.astype(np.float64) @ result + bias)
        return np.array(rows)

    options = argparse.Namespace(
        model_type="text", encoder_type="brnn" if both_ways else "rnn", decoder_type="rnn",
        rnn_type="LSTM" if gates == 4 else "GRU", enc_layers=layers, dec_layers=layers, input_feed=int(feeding),
        global_attention=score, global_attention_function="softmax", generator_function="softmax", bridge=False,
        copy_attn=False, coverage_attn=False, context_gate=None, position_encoding=False, dropout=[0.3],
        learning_rate=1.0, data={"corpus": {"weight": 1}}, gpu_ranks=[])
    saved = tensors(model | {"generator": output}, dtype)
    weight = saved.pop("generator")
    generator = {"0.weight": weight, "0.bias": tensors({"b": bias}, dtype)["b"]}
    vocab = {"src": fields(source_tokens), "tgt": fields(target_tokens), "indices": Field()}
    if version == 1:
        vocab = [(k, v.fields[0][1].vocab) for k, v in list(vocab.items())[:2]]
    if version == 3:
        generator = {k[2:]: v for k, v in generator.items()}
        vocab = {"src": source_tokens, "tgt": target_tokens, "data_task": "seq2seq", "decoder_start_token": "<s>"}
    optimizer = {"training_step": 10, "optimizer": {"state": {0: {"step": 3, "exp_avg": weight}},
                                                    "param_groups": [{"lr": 0.5, "betas": (0.9, 0.99)}]}}
    (folder / "model").mkdir(parents=True)
    checkpoint = {"model": saved, "generator": generator, "vocab": vocab, "opt": options, "optim": optimizer}
    change(checkpoint)
    save(folder / "model" / "model_step_10.pt", checkpoint)
    # What is read stands in the source's own order.
    from_target = {i: source_tokens.index(t) for i, t in enumerate(target_tokens) if t in source_tokens}
    write_case(folder, target_tokens, [{"<blank>": "<pad>"}.get(t, t) for t in target_tokens],
               lambda source, target: logits([from_target[i] for i in source[:-1]], target))


def main():
    out = Path(sys.argv[1])
    opennmt(out / "opennmt-lstm")
    opennmt(out / "opennmt-fields", version=2, layers=3)
    opennmt(out / "opennmt-pairs", version=1, layers=1, tie="target")
    opennmt(out / "opennmt-one-way", both_ways=False, tie="all")
    opennmt(out / "opennmt-no-feeding", feeding=False, dtype=np.float16)
    opennmt(out / "opennmt-gru", gates=3, score="dot")
    opennmt(out / "opennmt-gru-no-feeding", gates=3, feeding=False, version=2)
    option = lambda **options: lambda checkpoint: vars(checkpoint["opt"]).update(options)
    more = lambda c: c["model"].update({"decoder.more.weight": SavedTensor(Storage(normal(3)), 0, (3,))})
    features = lambda c: c["vocab"]["src"].fields.append(("feature", Field()))
    for name, change in {"copy": option(copy_attn=True), "mlp": option(global_attention="mlp"),
                         "bridge": option(bridge=True), "sparse": option(global_attention_function="sparsemax"),
                         "transformer": option(encoder_type="transformer"), "features": features, "more": more,
                         "no-end": lambda c: c["vocab"]["tgt"].fields[0][1].vocab.itos.__setitem__(3, "x")}.items():
        opennmt(out / f"refused-opennmt-{name}", version=2, change=change)
    DictConfig = stranger("omegaconf.dictconfig", "DictConfig")
    for name, parts in {"fairseq": {"cfg": DictConfig()}, "fairseq-args": {"args": argparse.Namespace()}}.items():
        (out / name / "model").mkdir(parents=True)
        save(out / name / "model" / "checkpoint.pt", parts | {"model": {}})


main()
