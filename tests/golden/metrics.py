#!/usr/bin/python3
"""Makes metrics.json beside it: figures of classification, captioning and dialogue, from plain formulas.

    tests/golden/metrics.py

The formulas are written from the papers, another way than the library's: dictionaries and fractions here, sorted
sequences there. The lines are drawn from small vocabularies with a fixed seed, so that n-grams repeat.
"""
import collections
import fractions
import itertools
import json
import math
import pathlib
import random


def ngrams(words, n):
    return collections.Counter(tuple(words[i:i + n]) for i in range(len(words) - n + 1))


def classification(hypotheses, references):
    """Sokolova and Lapalme 2009; averages over all labels of either side."""
    labels = sorted(set(hypotheses) | set(references))
    rows = []
    for label in labels:
        right = sum(h == r == label for h, r in zip(hypotheses, references))
        predicted, support = hypotheses.count(label), references.count(label)
        p = fractions.Fraction(right, predicted) if predicted else fractions.Fraction(0)
        r = fractions.Fraction(right, support) if support else fractions.Fraction(0)
        f = 2 * p * r / (p + r) if p + r else fractions.Fraction(0)
        rows.append((label, p, r, f, support, predicted))
    macro = [sum(row[i] for row in rows) / len(rows) for i in (1, 2, 3)]
    weighted = [sum(row[i] * row[4] for row in rows) / len(references) for i in (1, 2, 3)]
    return {
        "accuracy": 100 * sum(h == r for h, r in zip(hypotheses, references)) / len(references),
        "labels": [[row[0]] + [float(100 * x) for x in row[1:4]] + list(row[4:]) for row in rows],
        "macro": [float(100 * x) for x in macro],
        "weighted": [float(100 * x) for x in weighted],
        "confusion": [[sum(h == b and r == a for h, r in zip(hypotheses, references)) for b in labels] for a in labels],
    }


def coco_bleu(captions, references):
    """Papineni et al. 2002, per order; the constants of the COCO caption evaluation (Chen et al. 2015)."""
    length = sum(map(len, captions))
    closest = sum(min((abs(len(r) - len(c)), len(r)) for r in refs)[1] for c, refs in zip(captions, references))
    out, log_sum = [], 0
    for n in range(1, 5):
        matched = total = 0
        for c, refs in zip(captions, references):
            counts = ngrams(c, n)
            total += sum(counts.values())
            matched += sum(min(k, max(ngrams(r, n)[g] for r in refs)) for g, k in counts.items())
        log_sum += math.log((matched + 1e-15) / (total + 1e-9))
        ratio = (length + 1e-15) / (closest + 1e-9)
        out.append(100 * math.exp(log_sum / n + min(0, 1 - 1 / ratio)))
    return out


def subsequence(a, b):
    """By trying: all subsequences of the shorter, longest first."""
    a, b = sorted((a, b), key=len)
    for n in range(len(a), 0, -1):
        for chosen in itertools.combinations(a, n):
            rest = iter(b)
            if all(word in rest for word in chosen):
                return n
    return 0


def coco_rouge(captions, references):
    """Lin 2004, beta 1.2; best precision and best recall over the references."""
    total = 0
    for c, refs in zip(captions, references):
        p = max(subsequence(c, r) / len(c) for r in refs)
        r = max(subsequence(c, r) / len(r) for r in refs)
        if p and r:
            total += (1 + 1.2 ** 2) * p * r / (r + 1.2 ** 2 * p)
    return 100 * total / len(captions)


def cider_d(captions, references):
    """Vedantam et al. 2015, section 7; lengths in word pairs, as the COCO caption evaluation has them."""
    pictures = [set(g for r in refs for n in range(1, 5) for g in ngrams(r, n)) for refs in references]

    def vector(words, n):
        return {g: k * (math.log(len(pictures)) - math.log(max(1, sum(g in p for p in pictures))))
                for g, k in ngrams(words, n).items()}

    def norm(v):
        return math.sqrt(sum(x * x for x in v.values()))

    total = 0
    for c, refs in zip(captions, references):
        for r in refs:
            penalty = math.exp(-(max(0, len(c) - 1) - max(0, len(r) - 1)) ** 2 / (2 * 6 ** 2))
            for n in range(1, 5):
                a, b = vector(c, n), vector(r, n)
                if norm(a) and norm(b):
                    dot = sum(min(x, b[g]) * b[g] for g, x in a.items() if g in b)
                    total += 10 / 4 / len(refs) * penalty * dot / norm(a) / norm(b)
    return 100 * total / len(captions)


def chat(replies, references):
    """F1 of Dinan et al. 2019 (ConvAI2); distinct-n of Li et al. 2016."""
    f1 = 0
    for words, refs in zip(replies, references):
        best = 0
        for r in refs:
            shared = sum((collections.Counter(words) & collections.Counter(r)).values())
            if shared:
                p, rec = shared / len(words), shared / len(r)
                best = max(best, 2 * p * rec / (p + rec))
        f1 += best
    distinct = []
    for n in (1, 2):
        all_of_them = sum((ngrams(words, n) for words in replies), collections.Counter())
        distinct.append(100 * len(all_of_them) / sum(all_of_them.values()))
    return {"f1": 100 * f1 / len(replies), "distinct_1": distinct[0], "distinct_2": distinct[1]}


def main():
    draw = random.Random(7)
    wanted = draw.choices(["desc", "entity", "human", "number", "place"], [8, 6, 5, 3, 1], k=120)
    given = [w if draw.random() < 0.7 else draw.choice(["desc", "entity", "human", "other"]) for w in wanted]
    vocabulary = "dog man red runs on grass in with two ball".split()
    captions, references = [], []
    for i in range(30):
        base = draw.choices(vocabulary, k=draw.randint(3, 9))
        captions.append(base[:1] if i == 3 else base[:-2] if len(base) > 4 else base)  # short ones: BLEU's penalty counts
        references.append([])
        for _ in range(draw.randint(1, 4)):
            words = [w if draw.random() < 0.7 else draw.choice(vocabulary) for w in base]
            words = words[:draw.randint(2, 9)] + draw.choices(vocabulary, k=draw.randint(0, 2))
            references[-1].append(words)
    join = " ".join
    text = {
        "classification": {"hypotheses": given, "references": wanted, "figures": classification(given, wanted)},
        "caption": {
            "hypotheses": [join(c) for c in captions],
            "references": ["\t".join(map(join, refs)) for refs in references],
            "bleu": coco_bleu(captions, references),
            "rouge_l": coco_rouge(captions, references),
            "cider": cider_d(captions, references),
            "chat": chat(captions, references),
        },
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(text, indent=1) + "\n")


if __name__ == "__main__":
    main()
