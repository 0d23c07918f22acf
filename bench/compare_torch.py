"""PyTorch's side of bench/compare.py: measures what it is asked for, a JSON line each on standard input, and answers with one.

It is given to the interpreter as text (python3 -c), so that this may be of another system (a chroot, a container).
It does what a careful user would: fused attention (F.scaled_dot_product_attention), nn.GRU, nn.LSTM and Adam, no output
layer for padding, dropout only where Fovea has it, no denormal numbers, cached keys and values when decoding.
"""
import json
import math
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

VOCAB, BATCH_TOKENS, THREADS = map(int, sys.argv[1:4])
SIZES = {"transformer-tiny": (4, 128, 256, 4), "transformer-small": (3, 256, 1024, 4)}


def positions(length, width):
    t = torch.arange(length).unsqueeze(1)
    rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2], table[:, 1::2] = torch.sin(t * rate), torch.cos(t * rate)
    return table


class Dropout(nn.Module):
    """nn.Dropout with a byte of a random number for each value. Builds without MKL draw one at a time, on one thread, which
    takes nn.Dropout a quarter of transformer-tiny's training."""

    def __init__(self, rate):
        super().__init__()
        self.below = round(rate * 256)

    def forward(self, x):
        if not self.training:
            return x
        drawn = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-2**63, None).view(torch.uint8)
        return x * (drawn[: x.numel()].view(x.shape) >= self.below).to(x.dtype).mul_(256 / (256 - self.below))


class Transformer(nn.Module):
    def __init__(self, layers, width, inner, heads):
        super().__init__()
        self.width = width
        self.source, self.target = nn.Embedding(VOCAB, width, 0), nn.Embedding(VOCAB, width, 0)
        self.register_buffer("positions", positions(64, width))
        self.net = nn.Transformer(width, heads, layers, layers, inner, 0.0, batch_first=True, norm_first=True)
        self.out = nn.Linear(width, VOCAB)
        self.drop = Dropout(0.3)
        for layer in [*self.net.encoder.layers, *self.net.decoder.layers]:
            layer.dropout1 = layer.dropout2 = layer.dropout3 = self.drop  # none inside attention and feed-forward layers

    def forward(self, source, target, wanted):
        length = target.shape[1]
        mask = torch.full((length, length), float("-inf")).triu(1)
        padding = torch.zeros(source.shape).masked_fill(source == 0, float("-inf"))
        embed = lambda table, ids: self.drop(table(ids) * math.sqrt(self.width) + self.positions[: ids.shape[1]])
        h = self.net(embed(self.source, source), embed(self.target, target), tgt_mask=mask,
                     src_key_padding_mask=padding, memory_key_padding_mask=padding)
        return self.out(h[wanted])


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
        self.drop = Dropout(0.3)

    def forward(self, source, target, wanted):
        memory, last = self.encoder(self.drop(self.source(source)))
        keys, hidden = self.u(memory), torch.tanh(self.first(torch.cat([last[0], last[1]], -1)))
        padding = (source == 0).unsqueeze(1)
        embedded, states, contexts = self.drop(self.target(target)), [], []
        for step in embedded.unbind(1):
            scores = self.v(torch.tanh(self.w(hidden).unsqueeze(1) + keys)).transpose(1, 2)
            context = torch.bmm(torch.softmax(scores.masked_fill(padding, float("-inf")), -1), memory).squeeze(1)
            hidden = self.cell(torch.cat([step, context], -1), hidden)
            states.append(hidden)
            contexts.append(context)
        joined = torch.cat([torch.stack(states, 1)[wanted], torch.stack(contexts, 1)[wanted], embedded[wanted]], -1)
        return self.out(self.drop(torch.tanh(self.mix(joined))))


class Luong(nn.Module):
    """Two-layer LSTM 256, general score, input feeding."""

    def __init__(self, width=256):
        super().__init__()
        self.source, self.target = nn.Embedding(VOCAB, width, 0), nn.Embedding(VOCAB, width, 0)
        self.lower, self.upper = nn.LSTM(width, width, batch_first=True), nn.LSTM(width, width, batch_first=True)
        self.low, self.high = nn.LSTMCell(2 * width, width), nn.LSTMCell(width, width)
        self.w, self.mix, self.out = nn.Linear(width, width, bias=False), nn.Linear(2 * width, width), nn.Linear(width, VOCAB)
        self.drop, self.width = Dropout(0.3), width

    def forward(self, source, target, wanted):
        memory, low = self.lower(self.drop(self.source(source)))
        memory, high = self.upper(self.drop(memory))
        keys, padding = self.w(memory), (source == 0)
        low, high = (low[0][0], low[1][0]), (high[0][0], high[1][0])
        fed, embedded, states = torch.zeros_like(low[0]), self.drop(self.target(target)), []
        for step in embedded.unbind(1):
            low = self.low(torch.cat([step, fed], -1), low)
            high = self.high(self.drop(low[0]), high)
            scores = torch.bmm(keys, high[0].unsqueeze(-1)).squeeze(-1).masked_fill(padding, float("-inf"))
            context = torch.bmm(torch.softmax(scores, -1).unsqueeze(1), memory).squeeze(1)
            fed = self.drop(torch.tanh(self.mix(torch.cat([context, high[0]], -1))))
            states.append(fed)
        return self.out(torch.stack(states, 1)[wanted])


def build(preset):
    torch.manual_seed(1)
    if preset in SIZES:
        return Transformer(*SIZES[preset])
    return Bahdanau() if preset == "rnn-bahdanau" else Luong()


def batch():
    """Random sentences of 13 to 16 tokens, about BATCH_TOKENS target tokens, padding little."""
    rows = int(BATCH_TOKENS / 14.5)
    source, target = torch.randint(4, VOCAB, (rows, 16)), torch.randint(4, VOCAB, (rows, 16))
    lengths = torch.randint(13, 17, (2, rows, 1))
    source[torch.arange(16) >= lengths[0]] = 0
    target[torch.arange(16) >= lengths[1]] = 0
    return source, target, int(lengths[1].sum())


def train(preset, seconds):
    """Target tokens per second of whole steps."""
    model = build(preset).train()
    newer = {"fused": True} if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 4) else {}
    adam = torch.optim.Adam(model.parameters(), 1e-4, (0.9, 0.98), 1e-9, **newer)
    loss = nn.CrossEntropyLoss(label_smoothing=0.1)
    tokens, start, step = 0, 0.0, 0
    while True:
        source, target, count = batch()
        begin = torch.cat([torch.full((target.shape[0], 1), 2), target[:, :-1]], 1)
        wanted = target != 0
        adam.zero_grad(set_to_none=True)
        loss(model(source, begin, wanted), target[wanted]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        step += 1
        if step == 2:
            tokens, start = 0, time.perf_counter()
        elif step > 2:
            tokens += count
            if time.perf_counter() - start > seconds:
                return tokens / (time.perf_counter() - start)


def explicit_attention(q, k, v, mask):
    s = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
    return torch.matmul(torch.softmax(s if mask is None else s + mask, -1), v)


def attention(b, h, n, d, causal, backward):
    """Milliseconds of the fused attention, or of products and a softmax where those are faster or it is not there."""
    q, k, v = (torch.randn(b, h, n, d, requires_grad=backward) for _ in range(3))
    mask = torch.full((n, n), float("-inf")).triu(1) if causal else None
    ways = [lambda: explicit_attention(q, k, v, mask)]
    if hasattr(F, "scaled_dot_product_attention"):
        ways.append(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal))
    gradient, best = torch.ones(b, h, n, d), math.inf
    for way in ways:
        def once():
            out = way()
            if backward:
                out.backward(gradient)
                q.grad = k.grad = v.grad = None
        once()
        times = []
        while len(times) < 3 or sum(times) < 1:
            start = time.perf_counter()
            once()
            times.append(time.perf_counter() - start)
        best = min(best, statistics.median(times))
    return 1000 * best


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
        def project(attention, x, first, last):
            w, b = attention.in_proj_weight[first * width: last * width], attention.in_proj_bias[first * width: last * width]
            return [split(part) for part in F.linear(x, w, b).chunk(last - first, -1)]
        cross = [[part.repeat_interleave(beam, 0) for part in project(l.multihead_attn, memory, 1, 3)] for l in layers]
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
                q, k, v = project(l.self_attn, l.norm1(x), 0, 3)
                if past[i] is not None:
                    k, v = torch.cat([past[i][0], k], 2), torch.cat([past[i][1], v], 2)
                past[i] = (k, v)
                x = x + l.self_attn.out_proj(attend(q, k, v))
                x = x + l.multihead_attn.out_proj(attend(*project(l.multihead_attn, l.norm2(x), 0, 1), *cross[i]))
                x = x + l.linear2(torch.relu(l.linear1(l.norm3(x))))
            scores = m.out(m.net.decoder.norm(x)).squeeze(1)
            if beam == 1:
                tokens = scores.argmax(-1)
                continue
            totals, best = (torch.log_softmax(scores, -1).view(rows, beam, -1) + totals.unsqueeze(-1)).flatten(1).topk(beam)
            order = (best // VOCAB + torch.arange(rows).unsqueeze(1) * beam).flatten()
            tokens = (best % VOCAB).flatten()
            past = [(k[order], v[order]) for k, v in past]


def decode(preset, rows, beam, length):
    """Sentences per second."""
    runner = Cached(build(preset).eval())
    runner.run(rows, beam, length)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < 4:
        runner.run(rows, beam, length)
        count += rows
    return count / (time.perf_counter() - start)


def product():
    """GFLOP/s of a product of two matrices of 2,048 x 2,048: identifies the library of its matrix products."""
    a, b, out, best = torch.randn(2048, 2048), torch.randn(2048, 2048), torch.empty(2048, 2048), math.inf
    for _ in range(20):
        start = time.perf_counter()
        torch.mm(a, b, out=out)
        best = min(best, time.perf_counter() - start)
    return 2 * 2048 ** 3 / best * 1e-9


def version():
    return torch.__version__


torch.set_num_threads(THREADS)
torch.set_flush_denormal(True)
known = {f.__name__: f for f in [train, attention, decode, product, version]}
for line in sys.stdin:
    name, *arguments = json.loads(line)
    print(json.dumps(known[name](*arguments)), flush=True)
