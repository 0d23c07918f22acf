"""The Python module against NumPy, and what it refuses. The module stands on PYTHONPATH."""
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
        with self.assertRaisesRegex(fovea.UsageError, "max_stepz"):
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
        self.assertEqual(one.attention.shape, (len(one.target_tokens), len(one.source_tokens)))
        np.testing.assert_allclose(one.attention.sum(1), 1, atol=1e-4)
        many = t.translate(["one two", "three", ""])
        self.assertEqual([many[0].text, many[2].text], [one.text, ""])
        best = t.translate(["one two"], beam=4, n_best=3)
        self.assertEqual(len(best[0]), 3)
        self.assertGreaterEqual(best[0][0].score, best[0][2].score)
        self.assertAlmostEqual(t.score(["one two"], [one.text])[0], one.log_probability, places=3)
        self.assertIn("<svg", one._repr_html_())
        self.assertEqual(t.trace("one two").encoder.ndim, 4)
        lines = fovea.translate_lines(t, iter(["one two\n", "three\n"]), block=1)
        self.assertEqual([x.text for x in lines], [many[0].text, many[1].text])
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

    def test_an_interrupt_is_heard(self):
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
            self.assertEqual(one.attention.shape, (len(one.tokens), one.rows * one.columns))
            np.testing.assert_allclose(one.attention.sum(1), 1, atol=1e-5)
            both = captioner.caption([str(red), blue], attention=False)
            self.assertEqual(len(both), 2)
            self.assertIsNone(both[0].attention)
            self.assertEqual(len(captioner.caption(red, n_best=2)), 2)
            with self.assertRaises(fovea.FileError):
                captioner.caption(Path(folder, "none.png"))
            with self.assertRaises(fovea.UsageError):
                fovea.Translator(Path(folder, "m"))

    def test_a_language_model_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            models = Path(__file__).parent.parent / "interop" / "models.py"
            subprocess.run([sys.executable, models, folder, "gpt2"], check=True)
            self.assertIn("GPT-2", fovea.import_model(Path(folder, "gpt2-tied", "model"), Path(folder, "m")))
            completer = fovea.Completer(Path(folder, "m"))
            one = completer.complete("the cat", beam=1, max_length=4, attention=True)
            self.assertEqual(one.text, "the cat" + one.continuation)
            length = len(one.prompt_tokens) + len([t for t in one.tokens if t != "</s>"])
            self.assertEqual(one.attention.shape, (3, 4, length, length))
            self.assertTrue(np.all(np.triu(one.attention, 1) == 0))
            self.assertIn("<svg", one._repr_html_())
            several = completer.complete(["the cat", ""], n_best=2, max_length=3)
            self.assertEqual([len(s) for s in several], [2, 2])
            self.assertEqual(several[1][0].text, "")
            self.assertLess(completer.score(["the cat"])[0], 0)

    def test_metrics(self):
        self.assertAlmostEqual(fovea.bleu(["a b c d"], ["a b c d"]).score, 100, places=6)
        self.assertAlmostEqual(fovea.bleu(["a b c d"], [["a b c d"], ["x"]]).score, 100, places=6)
        self.assertIn("nrefs:1", fovea.bleu(["a"], ["a"]).signature)
        self.assertAlmostEqual(fovea.chrf("abc", "abc").score, 100, places=6)
        self.assertEqual(fovea.ter(["a b"], ["a c"]).edits, 1)
        self.assertAlmostEqual(fovea.rouge(["a b"], ["a b"]).rouge_l.f1, 100, places=6)


if __name__ == "__main__":
    unittest.main(verbosity=1)
