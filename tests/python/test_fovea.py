"""The Python module against NumPy, and what it refuses. The module is on PYTHONPATH."""
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib
from pathlib import Path

import numpy as np

import fovea

rng = np.random.default_rng(5)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def arrays(*shapes):
    return [rng.standard_normal(s).astype(np.float32) for s in shapes]


class Attend(unittest.TestCase):
    def test_every_score_gives_numpys_numbers(self):
        q, k, v = arrays((2, 4, 6), (2, 5, 6), (2, 5, 3))
        w, a, b, h = arrays((6, 6), (7, 6), (7, 6), (7,))
        unit = lambda x: x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-8)
        dot = np.einsum("bqd,bkd->bqk", q, k)
        additive = np.tanh((q @ a.T)[:, :, None] + (k @ b.T)[:, None]) @ h
        cases = {
            "dot": (dot, None), "scaled-dot": (dot / np.sqrt(6), None),
            "cosine": (np.einsum("bqd,bkd->bqk", unit(q), unit(k)), None),
            "general": (np.einsum("bqd,de,bke->bqk", q, w, k), {"W": w}),
            "additive": (additive, {"W": a, "U": b, "v": h}),
            "concat": (additive, {"W": np.concatenate([a, b], 1), "v": h}),
            "location": ((q @ a.T)[:, :, :5], {"W": a}),
        }
        for score, (scores, params) in cases.items():
            with self.subTest(score):
                result = fovea.attend(q, k, v, score=score, params=params, weights=True)
                np.testing.assert_allclose(result.weights, softmax(scores), atol=1e-5)
                np.testing.assert_allclose(result.context, softmax(scores) @ v, atol=1e-5)

    def test_masks_and_lengths(self):
        q, = arrays((1, 3, 4))
        self.assertEqual(fovea.attend(q, causal=True, weights=True).weights[0, 0, 1], 0)
        self.assertEqual(np.abs(fovea.attend(q, q, q, lengths=[0]).context).max(), 0)
        mask = np.array([[True, False, False]] * 3)
        np.testing.assert_allclose(fovea.attend(q, mask=mask, weights=True).weights[0, :, 0], 1, atol=1e-6)
        top = fovea.attend(q, top=2)
        self.assertEqual((top.top_indices.shape, top.top_indices.dtype), ((1, 3, 2), np.int64))
        self.assertIsNone(top.weights)

    def test_gradients_match_differences(self):
        q, k, v, d = arrays((1, 3, 4), (1, 5, 4), (1, 5, 2), (1, 3, 2))
        w, = arrays((4, 4))
        grads = fovea.attend_backward(d, q, k, v, score="general", params={"W": w})
        loss = lambda: float((fovea.attend(q, k, v, score="general", params={"W": w}).context.astype(np.float64) * d).sum())
        for name, array in (("query", q), ("key", k), ("value", v), ("W", w)):
            at = tuple(int(rng.integers(n)) for n in array.shape)
            before = array[at]
            array[at] = before + 1e-2
            up = loss()
            array[at] = before - 1e-2
            down = loss()
            array[at] = before
            self.assertAlmostEqual(grads[name][at], (up - down) / 2e-2, delta=2e-3, msg=name)

    def test_arrays_are_shared_not_copied(self):
        x = np.ones((2, 3), np.float32)
        v = fovea.Var(x)
        x[0, 0] = 7
        self.assertEqual(v.value[0, 0], 7)
        view = v.value
        view[1, 1] = 5
        self.assertEqual(x[1, 1], 5)
        del v, x
        self.assertEqual(view[1, 1], 5)
        turned = np.arange(6.0).reshape(2, 3).T
        np.testing.assert_allclose(fovea.Var(turned).value, turned)

    def test_positions_and_places(self):
        q, k, v = arrays((1, 5, 6), (1, 5, 6), (1, 5, 3))
        plain = fovea.attend(q, k, v, weights=True).weights
        np.testing.assert_array_equal(fovea.attend(q, k, v, rotary=False, weights=True).weights, plain)
        turned = fovea.attend(q, k, v, rotary=True, weights=True).weights
        self.assertGreater(np.abs(turned - plain).max(), 1e-4)
        np.testing.assert_array_equal(fovea.attend(q, k, v, rotary=10000.0, weights=True).weights, turned)
        distance = np.arange(5)[None] - np.arange(5)[:, None]
        near = fovea.attend(q, k, v, local=1, centers=np.array([[0, 1, 2, 3, 4]]), weights=True).weights[0]
        np.testing.assert_array_equal(near > 0, np.abs(distance) <= 1)
        keys, values = arrays((3, 6), (3, 3))
        kind = np.clip(distance, -1, 1) + 1
        scores = (q[0] @ k[0].T + np.einsum("qd,qkd->qk", q[0], keys[kind])) / np.sqrt(6)
        relative = fovea.attend(q, k, v, relative_keys=keys, relative_values=values).context[0]
        expected = np.einsum("qk,qkd->qd", softmax(scores), v[0][None] + values[kind])
        np.testing.assert_allclose(relative, expected, atol=1e-5)
        table = np.zeros((32, 1), np.float32)
        table[0] = 3  # of distance 0
        biased = softmax(q[0] @ k[0].T / np.sqrt(6) + 3 * np.eye(5))
        np.testing.assert_allclose(fovea.attend(q, k, v, relative_bias=table, weights=True).weights[0], biased, atol=1e-5)
        along = fovea.attend(q, k, v, edges=([0, 1, 3, 3, 4, 5], [2, 0, 4, 1, 1])).context[0]
        np.testing.assert_allclose(along[0], v[0, 2], atol=1e-6)
        np.testing.assert_array_equal(along[2], 0)
        with self.assertRaisesRegex(fovea.UsageError, "local"):
            fovea.attend(q, k, v, gaussian=True)
        with self.assertRaisesRegex(TypeError, "colour"):
            fovea.attend(q, k, v, colour=1)

    def test_attend_with_changed_scores(self):
        rng = np.random.default_rng(3)
        q, k, v = (rng.normal(size=(2, 2, 70, 6)).astype(np.float32) for _ in range(3))
        table = rng.normal(size=(2, 9)).astype(np.float32)
        scores = (q @ k.swapaxes(-1, -2)) / np.sqrt(6)
        softmax = lambda s: np.exp(s) / np.exp(s).sum(-1, keepdims=True)
        away = np.clip(np.arange(70)[:, None] - np.arange(70)[None, :], -4, 4) + 4
        capped = 2 * np.tanh(scores / 2) + table[:, away]
        made = fovea.attend(q, k, v, weights=True, softcap=2.0, modifiers=[("distance_bias", table)], log_sum=True)
        np.testing.assert_allclose(made.weights, softmax(capped), atol=1e-5)
        np.testing.assert_allclose(made.log_sum, np.log(np.exp(capped).sum(-1)), atol=1e-4)
        square = (lambda s, i, j: s * s + 0.01 * (i[:, None] - j[None, :]), lambda s, g, i, j: 2 * s * g)
        mine = scores ** 2 + 0.01 * (np.arange(70)[:, None] - np.arange(70)[None, :])
        np.testing.assert_allclose(fovea.attend(q, k, v, weights=True, modifiers=[square]).weights, softmax(mine), atol=1e-5)
        d = rng.normal(size=v.shape).astype(np.float32)
        sink = np.array([0.5, -1], np.float32)
        grads = fovea.attend_backward(d, q, k, v, modifiers=[square], sink=sink)
        loss = lambda q, sink: float((fovea.attend(q, k, v, modifiers=[square], sink=sink).context.astype(np.float64) * d).sum())
        for array, gradient, of in ((q, grads["query"], lambda x: loss(x, sink)), (sink, grads["sink"], lambda x: loss(q, x))):
            step = np.zeros_like(array)
            step.flat[1] = 1e-2
            self.assertAlmostEqual((of(array + step) - of(array - step)) / 2e-2, float(gradient.flat[1]), delta=2e-2)
        with self.assertRaisesRegex(fovea.UsageError, "backward"):
            fovea.attend_backward(d, q, k, v, modifiers=[square[0]])
        with self.assertRaisesRegex(fovea.ShapeError, "modifiers"):
            fovea.attend(q, modifiers=[lambda s, i, j: s[0]])
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            fovea.attend(q, modifiers=[lambda s, i, j: 1 / 0])
        with self.assertRaisesRegex(fovea.UsageError, "modifiers"):
            fovea.attend(q, modifiers=["nothing"])

    def test_block_masks(self):
        q = np.random.default_rng(4).normal(size=(1, 130, 4)).astype(np.float32)
        every_third = fovea.BlockMask.of(130, 130, lambda i, j: (i - j) % 3 == 0)
        i, j = np.arange(130)[:, None], np.arange(130)[None, :]
        for options, seen in (({"blocks": every_third}, (i - j) % 3 == 0),
                              ({"blocks": fovea.BlockMask.pattern(130, 130, window=6) & every_third},
                               ((i - j) % 3 == 0) & (np.abs(i - j) <= 6)),
                              ({"causal": True, "prefix": 5}, (j <= i) | (j < 5)),
                              ({"window": 4, "global_keys": 2, "dilation": 2},
                               ((np.abs(i - j) <= 4) & ((i - j) % 2 == 0)) | (i < 2) | (j < 2)),
                              ({"documents": (np.arange(130) // 50)[None]}, i // 50 == j // 50)):
            np.testing.assert_array_equal(fovea.attend(q, weights=True, **options).weights[0] > 0, seen)
        self.assertEqual(sum(every_third.tiles), 9)
        self.assertTrue(every_third.visible(0, 6, 3))
        with self.assertRaisesRegex(fovea.ShapeError, "blocks"):
            fovea.attend(q[:, :70], blocks=every_third)

    def test_entmax_of_any_alpha(self):
        q = np.random.default_rng(5).normal(size=(1, 2, 9, 4)).astype(np.float32)
        for alpha, same_as in ((2.0, "sparsemax"), (1.5, "entmax")):
            np.testing.assert_allclose(fovea.attend(q, normalize="entmax", alpha=alpha, weights=True).weights,
                                       fovea.attend(q, normalize=same_as, weights=True).weights, atol=1e-6)
        each = fovea.attend(q, normalize="entmax", alpha=np.array([1.2, 1.8], np.float32), weights=True).weights
        np.testing.assert_allclose(each.sum(-1), 1, atol=1e-5)
        self.assertGreater((each[:, 1] == 0).sum(), (each[:, 0] == 0).sum())
        with self.assertRaisesRegex(fovea.UsageError, "alpha"):
            fovea.attend(q, normalize="entmax", alpha=2.5)
        with self.assertRaisesRegex(fovea.UsageError, "alpha"):
            fovea.attend(q, alpha=1.2)

    def test_errors_have_the_librarys_words(self):
        q, = arrays((1, 3, 4))
        with self.assertRaisesRegex(fovea.UsageError, "score: \"nothing\""):
            fovea.attend(q, score="nothing")
        with self.assertRaisesRegex(fovea.ShapeError, "attend"):
            fovea.attend(q, np.ones((1, 3, 5), np.float32))
        with self.assertRaises(ValueError):
            fovea.attend(q, window=-1)
        with self.assertRaises(TypeError):
            fovea.attend("text")
        with self.assertRaisesRegex(fovea.FileError, "nowhere"):
            fovea.Translator("nowhere")
        with self.assertRaisesRegex(fovea.UsageError, "max_stepz: there is no such option"):
            fovea.train(model="m", source="s", valid_source="v", max_stepz=3)

    def test_the_overhead_of_a_call_is_small(self):
        q = np.ones((1, 1, 8), np.float32)
        best = 1.0
        for _ in range(30):
            start = time.perf_counter()
            for _ in range(100):
                fovea.attend(q, q, q)
            best = min(best, (time.perf_counter() - start) / 100)
        print(f"a call of attend on one query takes {best * 1e6:.1f} us")
        self.assertLess(best, 50e-6)  # under 10 on a quiet machine


class Mechanisms(unittest.TestCase):
    """Each mechanism gives the shapes it should, NumPy's numbers where they are short, and gradients."""

    def learn(self, parameters, *outputs):
        fovea.backward(fovea.sum(outputs[0]) if len(outputs) == 1 else fovea.sum(outputs[0]) + fovea.sum(outputs[1]))
        for name in parameters.names():
            self.assertTrue(np.isfinite(parameters[name].grad).all(), name)
        parameters.zero_grad()

    def test_poolings(self):
        p = fovea.Parameters(3)
        x, = arrays((2, 5, 6))
        learned = fovea.LearnedPooling(p, "learned", dim=6, queries=3)(x, lengths=[5, 2], weights=True)
        scores = np.einsum("nd,btd->bnt", p["learned.queries"].value, x) / np.sqrt(6)
        np.testing.assert_allclose(np.array(learned.weights)[0], softmax(scores[0]), atol=1e-5)
        self.assertEqual(np.array(learned.weights)[1, :, 2:].max(), 0)
        context = fovea.ContextPooling(p, "context", 6, 4)(x, weights=True)
        inner = np.tanh(x @ p["context.w"].value.T + p["context.b"].value) @ p["context.context"].value
        np.testing.assert_allclose(np.array(context.context)[:, 0], np.einsum("bt,btd->bd", softmax(inner), x), atol=1e-5)
        self.learn(p, learned.context, context.context)
        pooled = fovea.MultiDimensionalPooling(p, "features", 6)(x)
        tokens = fovea.MultiDimensional(p, "tokens", 6)(x, direction="forward")
        self.assertEqual((pooled.shape, tokens.shape), ((2, 6), (2, 5, 6)))
        np.testing.assert_array_equal(tokens.value[:, 0], 0)  # nothing comes before the first
        with self.assertRaisesRegex(fovea.UsageError, "direction"):
            fovea.MultiDimensional(p, "tokens", 6)(x, direction="up")
        document = fovea.HierarchicalAttention(p, "document", 6, 4)(
            x[None], words=[5, 2], sentences=[2], encode=lambda s: fovea.tanh(s))
        self.assertEqual(document.document.shape, (1, 6))
        np.testing.assert_allclose(document.sentence_weights.value.sum(), 1, atol=1e-5)
        self.assertEqual(document.word_weights.value[0, 1, 2:].max(), 0)
        self.learn(p, document.document)

    def test_pairs_and_pointers(self):
        p = fovea.Parameters(3)
        a, b = arrays((2, 5, 6), (2, 4, 3))
        for kind in (fovea.ParallelCoAttention, fovea.AlternatingCoAttention):
            both = kind(p, kind.__name__, 6, 3, 7)(a, b, b_lengths=[4, 1])
            self.assertEqual((both.a.shape, both.b.shape), ((2, 6), (2, 3)))
            np.testing.assert_allclose(both.a_weights.value.sum(1), 1, atol=1e-5)
            np.testing.assert_allclose(both.b_weights.value[1], [1, 0, 0, 0], atol=1e-6)
            self.learn(p, both.a, both.b)
        pointer = fovea.Pointer(p, "pointer", 6, 3, 7)
        chosen = pointer(a, b, mask=np.array([True, True, False, True]))
        scores = np.tanh((a @ p["pointer.w"].value.T)[:, :, None] + (b @ p["pointer.u"].value.T)[:, None]) @ p["pointer.v"].value
        scores[..., 2] = -np.inf
        np.testing.assert_allclose(chosen.value, softmax(scores), atol=1e-5)
        loss = fovea.pointing_loss(chosen, np.array([[0, 1, 3, 0, -1]] * 2))
        self.assertGreater(float(loss), 0)
        loss.backward()
        gate = fovea.CopyGate(p, "gate", 6, 6, 6)(a, a, a)
        self.assertEqual(gate.shape, (2, 5))
        mixed = fovea.copy_mixture(np.full((2, 5, 4), 0.25), gate, pointer(a, b), np.array([[0, 5, 1, 2]] * 2), 6)
        np.testing.assert_allclose(mixed.value.sum(-1), 1, atol=1e-5)
        covered = fovea.CoverageAttention(p, "coverage", 6, 3, 7)(a, b)
        np.testing.assert_allclose(covered.coverage.value, covered.weights.value.sum(1), atol=1e-5)
        weights = covered.weights.value
        again = np.minimum(weights, np.cumsum(weights, 1) - weights).sum()
        np.testing.assert_allclose(float(fovea.coverage_loss(covered.weights)), again, atol=1e-5)
        self.assertGreater(float(fovea.coverage_loss(covered.weights, np.ones((2, 4)))), again)

    def test_recurrent_decoders_attend(self):
        x, memory, first = arrays((2, 3, 6), (2, 5, 7), (2, 4))
        sigmoid = lambda v: 1 / (1 + np.exp(-v))
        p = fovea.Parameters(3)
        run = fovea.AttentionalRnn(p, "rnn", 6, 7, 4)(x, memory, memory_lengths=[5, 2], first=[first], weights=True)
        w = {name: p[name].value for name in p.names()}
        h = first[0]
        for t in range(3):  # Bahdanau's form by NumPy
            scores = np.tanh(h @ w["rnn.attention.query"].T + memory[0] @ w["rnn.attention.key"].T) @ w["rnn.attention.vector"]
            context = softmax(scores) @ memory[0]
            inner, state = np.concatenate([x[0, t], context]) @ w["rnn.0.input"], h @ w["rnn.0.state"]
            r, z = sigmoid(inner[:4] + state[:4]), sigmoid(inner[4:8] + state[4:8])
            h = (1 - z) * np.tanh(inner[8:] + r * state[8:]) + z * h
            np.testing.assert_allclose(run.weights.value[0, t], softmax(scores), atol=1e-5)
            np.testing.assert_allclose(run.states.value[0, t], h, atol=1e-5)
        self.assertEqual(run.weights.value[1, :, 2:].max(), 0)
        self.assertIsNone(run.attentional)
        self.learn(p, run.states, run.contexts)
        for form, cell, score, layers in (("luong", "lstm", "general", 2), ("conditional", "gru", "additive", 1)):
            p = fovea.Parameters(3)
            run = fovea.AttentionalRnn(p, "rnn", 6, 7, 4, cell=cell, form=form, score=score, layers=layers)(x, memory)
            out = run.attentional if form == "luong" else run.states
            self.assertEqual(out.shape, (2, 3, 4))
            self.learn(p, out)
        with self.assertRaisesRegex(fovea.UsageError, "form"):
            fovea.AttentionalRnn(p, "rnn", 6, 7, 4, form="round")
        with self.assertRaisesRegex(fovea.UsageError, "conditional"):
            fovea.AttentionalRnn(p, "rnn", 6, 7, 4, form="conditional", layers=2)

    def test_graphs_and_memories(self):
        p = fovea.Parameters(3)
        x, keys, values = arrays((4, 6), (1, 5, 6), (1, 5, 6))
        graph = fovea.GraphAttention(p, "graph", 6, 3, heads=2)(x, [0, 1, 2, 4, 4], [1, 0, 2, 3], weights=True)
        h = (x @ p["graph.w"].value).reshape(4, 2, 3)
        np.testing.assert_allclose(np.array(graph.context)[0, 0], h[1].reshape(-1), atol=1e-5)  # its only neighbour
        np.testing.assert_array_equal(np.array(graph.context)[0, 3], 0)
        network = fovea.MemoryNetwork(p, "memory", dim=6, hops=2)
        read = network(keys[:, :2], [(keys, values)], lengths=[3], weights=True)
        self.assertEqual((read.state.shape, len(read.hops)), ((1, 2, 6), 2))
        self.assertEqual(np.array(read.hops[1].weights)[..., 3:].max(), 0)
        mixed = fovea.MultiRepresentational(p, "words", [6, 3], 4)([keys, keys[..., :3]])
        np.testing.assert_allclose(mixed.weights.value.sum(-1), 1, atol=1e-5)
        average = fovea.AverageAttention(p, "average", 6, 8)(keys)
        self.assertEqual((mixed.mixed.shape, average.shape), ((1, 5, 4), (1, 5, 6)))
        self.learn(p, read.state, average)


class Tasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = Path(cls.folder.name)
        (path / "text").write_text("one two three\nthree two one\ntwo one\n" * 20)
        fovea.train(model=path / "model", source=path / "text", target=path / "text", valid_source=path / "text",
                    valid_target=path / "text", layers=1, dim=16, ffn=16, heads=2, tokenizer="word", max_steps=3)
        cls.model = path / "model"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_translations_have_all_their_parts(self):
        t = fovea.Translator(self.model)
        one = t.translate("one two", attention=True)
        attention = one.attention
        self.assertEqual(attention.source, ["one", "two", "</s>"])
        self.assertEqual(attention.weights.shape, (len(attention.target), len(attention.source)))
        self.assertEqual(attention.maps, [])
        np.testing.assert_allclose(attention.weights.sum(1), 1, atol=1e-4)
        self.assertIsNone(t.translate("one two").attention.weights)
        many = t.translate(["one two", "three", ""])
        self.assertEqual([many[0].text, many[2].text], [one.text, ""])
        best = t.translate(["one two"], beam=4, n_best=3)
        self.assertEqual(len(best[0]), 3)
        self.assertGreaterEqual(best[0][0].score, best[0][2].score)
        self.assertAlmostEqual(t.score(["one two"], [one.text])[0], one.log_probability, places=3)
        self.assertIn("<svg", one._repr_html_())
        self.assertEqual(t.trace("one two").output.attention.encoder.ndim, 4)
        heads = t.translate(["one two", "three"], kinds=["cross", "encoder"])
        first, second = heads[0].attention, heads[1].attention
        self.assertEqual(first.cross.shape, (1, 2) + attention.weights.shape)
        np.testing.assert_allclose(first.cross.mean((0, 1)), attention.weights, atol=1e-5)
        self.assertEqual([(m.kind, m.layer, m.head) for m in first.maps],
                         [("encoder", 0, 0), ("encoder", 0, 1), ("cross", 0, 0), ("cross", 0, 1)])
        np.testing.assert_array_equal(first.maps[3].weights, first.cross[0, 1])
        self.assertEqual(second.encoder.shape, (1, 2, len(second.source), len(second.source)))
        self.assertIsNone(second.decoder)
        silent = [{"do": "uniform", "kind": "cross"}]
        even = t.translate("one two", attention=True, interventions=silent).attention.weights
        np.testing.assert_allclose(even, 1 / 3, atol=1e-5)
        with self.assertRaisesRegex(fovea.UsageError, "nothing"):
            t.translate("one", kinds=["nothing"])
        lines = fovea.translate_lines(t, iter(["one two\n", "three\n"]), block=1)
        self.assertEqual([x.text for x in lines], [many[0].text, many[1].text])
        for wrong in (3, None, ["a", 3]):
            with self.assertRaisesRegex(TypeError, "a text or a list of texts is needed, not"):
                t.translate(wrong)
        with self.assertRaisesRegex(fovea.UsageError, "beam"):
            t.translate("one", beam=0)

    def test_python_runs_meanwhile(self):
        t = fovea.Translator(self.model)
        ticks = []
        stop = threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(1)
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        t.translate(["one two three"] * 2000)
        stop.set()
        thread.join()
        self.assertGreater(len(ticks), 1)

    def test_an_interrupt_ends_a_call(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "text")
            file.write_text("a b c\nc b a\n" * 50)
            seen = []

            def report(r):
                seen.append(r)
                signal.raise_signal(signal.SIGINT)

            with self.assertRaises(KeyboardInterrupt):
                fovea.train(model=Path(folder, "m"), source=file, target=file, valid_source=file, valid_target=file,
                            preset="rnn-bahdanau", dim=16, tokenizer="word", max_steps=10000, report_every=2, on_report=report)
            self.assertEqual(len([r for r in seen if "loss" in r]), 1)
            self.assertTrue(Path(folder, "m", "checkpoint.safetensors").exists())

    def test_an_interrupt_ends_a_long_translation(self):
        t = fovea.Translator(self.model)
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        begin = time.perf_counter()
        with self.assertRaises(KeyboardInterrupt):
            t.translate(["one two three"] * 400000)
        timer.join()
        print(f"the interrupt took effect after {time.perf_counter() - begin:.1f} s")

    def test_a_conversation_keeps_its_turns(self):
        with tempfile.TemporaryDirectory() as folder:
            turns, replies = Path(folder, "turns"), Path(folder, "replies")
            turns.write_text("hello\nhello\thi\thow are you\n" * 20)
            replies.write_text("hi\nfine\n" * 20)
            fovea.train(model=Path(folder, "m"), source=turns, target=replies, valid_source=turns, valid_target=replies,
                        task="chat", layers=1, dim=16, ffn=16, heads=2, tokenizer="word", max_steps=3)
            chat = fovea.Chat(Path(folder, "m"))
            reply = chat.reply("hello")
            self.assertEqual(chat.turns, ["hello", reply])
            self.assertEqual(chat.last.text, reply)
            chat.reset()
            self.assertEqual(chat.turns, [])

    def test_pictures_are_described(self):
        def png(path, colour):
            rows = (b"\0" + bytes(colour) * 32) * 32
            chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)) +
                             chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

        with tempfile.TemporaryDirectory() as folder:
            red, blue = Path(folder, "red.png"), Path(folder, "blue.png")
            png(red, (250, 0, 0))
            png(blue, (0, 0, 250))
            places, texts = Path(folder, "places"), Path(folder, "texts")
            places.write_text(f"{red}\n{blue}\n" * 4)
            texts.write_text("a red square\na blue square\n" * 4)
            fovea.train(model=Path(folder, "m"), source=places, target=texts, valid_source=places, valid_target=texts,
                        task="caption", decoder="rnn", dim=16, picture_size=32, picture_channels=16, tokenizer="word",
                        max_steps=3)
            captioner = fovea.Captioner(Path(folder, "m"))
            one = captioner.caption(red, max_length=5)
            self.assertIsNone(one.attention.weights)
            one = captioner.caption(red, max_length=5, attention=True)
            seen = one.attention
            self.assertEqual(seen.weights.shape, (len(seen.target), seen.rows * seen.columns))
            np.testing.assert_allclose(seen.weights.sum(1), 1, atol=1e-5)
            both = captioner.caption([str(red), blue])
            self.assertEqual(len(both), 2)
            with self.assertRaisesRegex(fovea.UsageError, "replace_unknown"):
                captioner.caption(red, replace_unknown=True)
            self.assertEqual(len(captioner.caption(red, n_best=2)), 2)
            with self.assertRaises(fovea.FileError):
                captioner.caption(Path(folder, "none.png"))
            with self.assertRaises(fovea.UsageError):
                fovea.Translator(Path(folder, "m"))

    def test_texts_get_labels(self):
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder, "text")
            text.write_text("__label__food we like bread\n__label__weather there is rain\n" * 10)
            fovea.train(model=Path(folder, "m"), task="classify", source=text, valid_source=text, encoder="none", dim=16,
                        pooling="context", tokenizer="word", max_steps=40, learning_rate=0.05, warmup=5)
            classifier = fovea.Classifier(Path(folder, "m"))
            one = classifier.classify("there is rain")
            self.assertEqual((one.label, sorted(one.probabilities)), ("weather", ["food", "weather"]))
            self.assertEqual(len(one.attention), len(one.tokens))
            many = fovea.classify_lines(classifier, iter(["there is rain\n", "we like bread\n", "rain\n"]), block=2)
            self.assertEqual([c.label for c in many], ["weather", "food", "weather"])
            fovea.train(model=Path(folder, "k"), task="classify", source=text, valid_source=text, dim=4, max_steps=1,
                        encoder="parallel-cnn", kernels=[2, 3], tokenizer="word")
            self.assertIn('"kernels":[2,3]', Path(folder, "k", "config.json").read_text().replace(" ", "").replace("\n", ""))

    def test_a_language_model_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            models = Path(__file__).parent.parent / "interop" / "models.py"
            subprocess.run([sys.executable, models, folder, "gpt2"], check=True)
            self.assertIn("GPT-2", fovea.import_model(Path(folder, "gpt2-tied", "model"), Path(folder, "m")))
            completer = fovea.Completer(Path(folder, "m"))
            one = completer.complete("the cat", beam=1, max_length=4, attention=True, kinds=["decoder"])
            self.assertEqual(one.text, "the cat" + one.continuation)
            length = len(one.attention.source)
            self.assertEqual(one.attention.source[-len(one.ids):], one.attention.target[-len(one.ids):])
            self.assertEqual(one.attention.weights.shape, (length, length))
            self.assertEqual(one.attention.decoder.shape, (3, 4, length, length))
            self.assertTrue(np.all(np.triu(one.attention.decoder, 1) == 0))
            np.testing.assert_allclose(one.attention.decoder.mean((0, 1)), one.attention.weights, atol=1e-5)
            for name, value in [("coverage_penalty", 0.5), ("replace_unknown", True)]:
                with self.assertRaisesRegex(fovea.UsageError, name):
                    completer.complete("the cat", **{name: value})
            with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'beams'"):
                completer.complete("the cat", beams=2)
            self.assertIn("<svg", one._repr_html_())
            several = completer.complete(["the cat", ""], n_best=2, max_length=3)
            self.assertEqual([len(s) for s in several], [2, 2])
            self.assertEqual(several[1][0].text, "")
            self.assertLess(completer.score(["the cat"])[0], 0)

    def test_a_model_goes_to_other_programs_and_back(self):
        with tempfile.TemporaryDirectory() as folder:
            fovea.export_model(self.model, "ctranslate2", Path(folder, "ct2"))
            fovea.import_model(Path(folder, "ct2"), Path(folder, "back"))
            lines = ["one two", "three"]
            texts = [[t.text for t in fovea.Translator(m).translate(lines)] for m in (self.model, Path(folder, "back"))]
            self.assertEqual(*texts)
            fovea.export_model(self.model, "onnx", Path(folder, "onnx"))
            self.assertTrue(Path(folder, "onnx", "decoder.onnx").exists())
            with self.assertRaisesRegex(fovea.UsageError, "tensorflow"):
                fovea.export_model(self.model, "tensorflow", Path(folder, "t"))

    def test_metrics(self):
        self.assertAlmostEqual(fovea.bleu(["a b c d"], ["a b c d"]).score, 100, places=6)
        self.assertAlmostEqual(fovea.bleu(["a b c d"], [["a b c d"], ["x"]]).score, 100, places=6)
        self.assertIn("nrefs:1", fovea.bleu(["a"], ["a"]).signature)
        self.assertAlmostEqual(fovea.chrf("abc", "abc").score, 100, places=6)
        self.assertEqual(fovea.ter(["a b"], ["a c"]).edits, 1)
        self.assertAlmostEqual(fovea.rouge(["a b"], ["a b"]).rouge_l.f1, 100, places=6)


if __name__ == "__main__":
    unittest.main(verbosity=1)
