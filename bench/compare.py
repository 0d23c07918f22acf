"""Fovea beside PyTorch on this machine: each measurement is made in turn, several rounds, and reported as a ratio.

Run by script/compare. The PyTorch side is what a careful user would write: nn.Transformer's layers, nn.GRU and nn.LSTM,
batched matrix products for attention, cached keys and values when decoding.
"""
import json
import math
import statistics
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

FOVEA = "build/release/fovea"
VOCAB, BATCH_TOKENS, THREADS, ROUNDS = 10000, 4096, 2, 3
PRESETS = ["transformer-tiny", "transformer-small", "rnn-bahdanau", "rnn-luong"]
SIZES = {"transformer-tiny": (4, 128, 256, 4), "transformer-small": (3, 256, 1024, 4)}


def fovea(*arguments):
    out = subprocess.run([FOVEA, "bench", *map(str, arguments)], check=True, capture_output=True, text=True).stdout
    return json.loads(out.strip().splitlines()[-1])


def positions(length, width):
    t = torch.arange(length).unsqueeze(1)
    rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2], table[:, 1::2] = torch.sin(t * rate), torch.cos(t * rate)
    return table


class Transformer(nn.Module):
    def __init__(self, layers, width, inner, heads):
        super().__init__()
        self.width = width
        self.source, self.target = nn.Embedding(VOCAB, width, 0), nn.Embedding(VOCAB, width, 0)
        self.register_buffer("positions", positions(64, width))
        self.net = nn.Transformer(width, heads, layers, layers, inner, 0.3, batch_first=True, norm_first=True)
        self.out = nn.Linear(width, VOCAB)
        self.drop = nn.Dropout(0.3)

    def forward(self, source, target):
        length = target.shape[1]
        mask = torch.full((length, length), float("-inf")).triu(1)
        embed = lambda table, ids: self.drop(table(ids) * math.sqrt(self.width) + self.positions[: ids.shape[1]])
        h = self.net(embed(self.source, source), embed(self.target, target), tgt_mask=mask,
                     src_key_padding_mask=source == 0, memory_key_padding_mask=source == 0)
        return self.out(h)


class Bahdanau(nn.Module):
    """Bi-GRU 256, GRU 256 fed with the context, additive attention by the previous state."""

    def __init__(self, width=256):
        super().__init__()
        self.source, self.target = nn.Embedding(VOCAB, width, 0), nn.Embedding(VOCAB, width, 0)
        self.encoder = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.first = nn.Linear(2 * width, width)
        self.cell = nn.GRUCell(3 * width, width)
        self.w, self.u, self.v = nn.Linear(width, width), nn.Linear(2 * width, width, bias=False), nn.Linear(width, 1, bias=False)
        self.mix = nn.Linear(4 * width, width)
        self.out = nn.Linear(width, VOCAB)
        self.drop = nn.Dropout(0.3)

    def forward(self, source, target):
        memory, last = self.encoder(self.drop(self.source(source)))
        keys, hidden = self.u(memory), torch.tanh(self.first(torch.cat([last[0], last[1]], -1)))
        padding = (source == 0).unsqueeze(-1)
        embedded, states = self.drop(self.target(target)), []
        for t in range(target.shape[1]):
            scores = self.v(torch.tanh(self.w(hidden).unsqueeze(1) + keys)).masked_fill(padding, float("-inf"))
            context = (torch.softmax(scores, 1) * memory).sum(1)
            hidden = self.cell(torch.cat([embedded[:, t], context], -1), hidden)
            states.append(torch.cat([hidden, context, embedded[:, t]], -1))
        return self.out(self.drop(torch.tanh(self.mix(torch.stack(states, 1)))))


class Luong(nn.Module):
    """Two-layer LSTM 256, general score, input feeding."""

    def __init__(self, width=256):
        super().__init__()
        self.source, self.target = nn.Embedding(VOCAB, width, 0), nn.Embedding(VOCAB, width, 0)
        self.encoder = nn.LSTM(width, width, 2, batch_first=True, dropout=0.3)
        self.low, self.high = nn.LSTMCell(2 * width, width), nn.LSTMCell(width, width)
        self.w, self.mix, self.out = nn.Linear(width, width, bias=False), nn.Linear(2 * width, width), nn.Linear(width, VOCAB)
        self.drop, self.width = nn.Dropout(0.3), width

    def forward(self, source, target):
        memory, (h, c) = self.encoder(self.drop(self.source(source)))
        keys, padding = self.w(memory), (source == 0)
        low, high = (h[0], c[0]), (h[1], c[1])
        fed, embedded, states = torch.zeros_like(h[0]), self.drop(self.target(target)), []
        for t in range(target.shape[1]):
            low = self.low(torch.cat([embedded[:, t], fed], -1), low)
            high = self.high(self.drop(low[0]), high)
            scores = torch.bmm(keys, high[0].unsqueeze(-1)).squeeze(-1).masked_fill(padding, float("-inf"))
            context = torch.bmm(torch.softmax(scores, -1).unsqueeze(1), memory).squeeze(1)
            fed = self.drop(torch.tanh(self.mix(torch.cat([context, high[0]], -1))))
            states.append(fed)
        return self.out(torch.stack(states, 1))


def build(preset):
    torch.manual_seed(1)
    if preset in SIZES:
        return Transformer(*SIZES[preset])
    return Bahdanau() if preset == "rnn-bahdanau" else Luong()


def batch():
    """Random sentences of 13 to 16 tokens, about BATCH_TOKENS target tokens, padding little."""
    rows = int(BATCH_TOKENS / 14.5)
    source, target = torch.randint(4, VOCAB, (rows, 16)), torch.randint(4, VOCAB, (rows, 16))
    lengths = torch.randint(13, 17, (2, rows))
    for i in range(rows):
        source[i, lengths[0, i]:] = 0
        target[i, lengths[1, i]:] = 0
    return source, target, int(lengths[1].sum())


def torch_train(preset, seconds):
    model = build(preset).train()
    adam = torch.optim.Adam(model.parameters(), 1e-4, (0.9, 0.98), 1e-9)
    loss = nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1)
    tokens, start, step = 0, 0.0, 0
    while True:
        source, target, count = batch()
        begin = torch.cat([torch.full((target.shape[0], 1), 2), target[:, :-1]], 1)
        adam.zero_grad(set_to_none=True)
        loss(model(source, begin).flatten(0, 1), target.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        step += 1
        if step == 2:
            tokens, start = 0, time.perf_counter()
        elif step > 2:
            tokens += count
            if time.perf_counter() - start > seconds:
                return tokens / (time.perf_counter() - start)


def torch_attention(b, h, n, d, causal, backward):
    q, k, v = (torch.randn(b, h, n, d, requires_grad=backward) for _ in range(3))
    mask = torch.full((n, n), float("-inf")).triu(1) if causal else None
    def once():
        s = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(d)
        out = torch.matmul(torch.softmax(s + mask if causal else s, -1), v)
        if backward:
            out.backward(torch.ones_like(out))
            q.grad = k.grad = v.grad = None
    once()
    times = []
    while len(times) < 3 or sum(times) < 1.5:
        start = time.perf_counter()
        once()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


class Cached:
    """transformer-tiny's decoder a token at a time, keys and values kept, beam 5 or greedy."""

    def __init__(self, model):
        self.model = model

    @torch.no_grad()
    def run(self, rows, beam, length):
        m, width = self.model, self.model.width
        source = torch.randint(4, VOCAB, (rows, 15))
        memory = m.net.encoder(m.source(source) * math.sqrt(width) + m.positions[:15])
        layers, heads = m.net.decoder.layers, m.net.decoder.layers[0].self_attn.num_heads
        split = lambda x: x.view(x.shape[0], -1, heads, width // heads).transpose(1, 2)
        def project(attention, x, part):
            w, b = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
            return split(F.linear(x, w[part], b[part]))
        cross = [(project(l.multihead_attn, memory, 1), project(l.multihead_attn, memory, 2)) for l in layers]
        cross = [(k.repeat_interleave(beam, 0), v.repeat_interleave(beam, 0)) for k, v in cross]
        past = [None] * len(layers)
        count = rows * beam
        tokens, totals = torch.full((count,), 2), torch.zeros(rows, beam)
        totals[:, 1:] = -1e9
        def attend(q, k, v):
            w = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(width // heads), -1)
            return torch.matmul(w, v).transpose(1, 2).reshape(count, 1, width)
        for t in range(length):
            x = (m.target(tokens) * math.sqrt(width) + m.positions[t]).unsqueeze(1)
            for i, l in enumerate(layers):
                n = l.norm1(x)
                k, v = project(l.self_attn, n, 1), project(l.self_attn, n, 2)
                if past[i] is not None:
                    k, v = torch.cat([past[i][0], k], 2), torch.cat([past[i][1], v], 2)
                past[i] = (k, v)
                x = x + l.self_attn.out_proj(attend(project(l.self_attn, n, 0), k, v))
                n = l.norm2(x)
                x = x + l.multihead_attn.out_proj(attend(project(l.multihead_attn, n, 0), *cross[i]))
                x = x + l.linear2(torch.relu(l.linear1(l.norm3(x))))
            scores = m.out(m.net.decoder.norm(x)).squeeze(1)
            if beam == 1:
                tokens = scores.argmax(-1)
                continue
            totals, best = (torch.log_softmax(scores, -1).view(rows, beam, -1) + totals.unsqueeze(-1)).flatten(1).topk(beam)
            order = (best // VOCAB + torch.arange(rows).unsqueeze(1) * beam).flatten()
            tokens = (best % VOCAB).flatten()
            past = [(k[order], v[order]) for k, v in past]


def torch_decode(preset, rows, beam, length):
    runner = Cached(build(preset).eval())
    runner.run(rows, beam, length)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < 4:
        runner.run(rows, beam, length)
        count += rows
    return count / (time.perf_counter() - start)


def rounds(ours, theirs):
    """Medians of both over interleaved rounds."""
    a, b = [], []
    for _ in range(ROUNDS):
        a.append(ours())
        b.append(theirs())
    return statistics.median(a), statistics.median(b)


def main():
    torch.set_num_threads(THREADS)
    wanted = sys.argv[1:] or ["train", "attention", "decode"]
    unknown = set(wanted) - {"train", "attention", "decode"}
    if unknown:
        sys.exit(f"compare: {', '.join(sorted(unknown))}: only train, attention and decode are compared")
    print(f"Fovea and PyTorch {torch.__version__}, {THREADS} threads, medians of {ROUNDS} rounds in turn\n")
    if "train" in wanted:
        print("| training, target tokens/s | Fovea | PyTorch | ratio |\n| --- | --- | --- | --- |")
        for p in PRESETS:
            a, b = rounds(lambda: fovea("train", "--preset", p, "--vocab", VOCAB, "--batch-tokens", BATCH_TOKENS,
                                        "--threads", THREADS, "--seconds", 6)["target_tokens_per_s"],
                          lambda: torch_train(p, 6))
            print(f"| {p} | {a:,.0f} | {b:,.0f} | {a / b:.2f} |", flush=True)
    if "attention" in wanted:
        print("\n| attention, ms | Fovea | PyTorch | ratio |\n| --- | --- | --- | --- |")
        for b, h, n, d in [(32, 4, 32, 32), (64, 8, 64, 64), (8, 8, 512, 64), (1, 8, 2048, 64)]:
            for causal in [False, True]:
                for backward in [False, True]:
                    flags = (["--causal"] if causal else []) + (["--backward"] if backward else [])
                    x, y = rounds(lambda: fovea("attention", "--batch", b, "--heads", h, "--queries", n, "--keys", n,
                                                "--dim", d, "--threads", THREADS, *flags)["median_ms"],
                                  lambda: torch_attention(b, h, n, d, causal, backward))
                    name = f"B{b} H{h} N{n} D{d}{' causal' if causal else ''}{' with backward' if backward else ''}"
                    print(f"| {name} | {x:.3f} | {y:.3f} | {y / x:.2f} |", flush=True)
    if "decode" in wanted:
        print("\n| decoding transformer-tiny, 15 tokens, sentences/s | Fovea | PyTorch | ratio |\n| --- | --- | --- | --- |")
        for rows, beam in [(1, 1), (32, 5)]:
            a, b = rounds(lambda: fovea("decode", "--preset", "transformer-tiny", "--vocab", VOCAB, "--batch", rows, "--beam",
                                        beam, "--length", 15, "--threads", THREADS)["sentences_per_s"],
                          lambda: torch_decode("transformer-tiny", rows, beam, 15))
            print(f"| batch {rows}, beam {beam} | {a:.0f} | {b:.0f} | {a / b:.2f} |", flush=True)


if __name__ == "__main__":
    main()
