"""Training a bag of words and pairs of words in Fovea and in Debian's fastText, in turn, as a ratio of wall times.

Run by script/compare classify [FILE…]; a FILE has fastText's format, __label__X and a text on a line. Without one, 20,000
texts are generated: words drawn by Zipf's law, some tied to a label. Both train for the same number of passes over
the same lines, with vectors of the same width, as many buckets and threads; each time is that of the whole command, with
reading the text and writing the model.
"""
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FOVEA = os.environ.get("FOVEA", "build/release/fovea")
WIDTH, BUCKETS, EPOCHS, THREADS, ROUNDS = 100, 100000, 10, 2, 3


def made_text(path, lines=20000, labels=6, words=20000):
    chance = random.Random(1)
    weights = [1 / (rank + 2) for rank in range(words)]
    with open(path, "w", encoding="utf-8") as out:
        for _ in range(lines):
            label = chance.randrange(labels)
            text = chance.choices(range(words), weights, k=chance.randint(8, 24))
            text.insert(chance.randrange(len(text)), label + labels * chance.randrange(40))
            out.write(f"__label__{label} " + " ".join(f"w{word}" for word in text) + "\n")


def timed(*command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def compare(path):
    with tempfile.TemporaryDirectory() as folder:
        with open(path, encoding="utf-8") as whole, open(f"{folder}/valid", "w", encoding="utf-8") as out:
            lines = whole.readlines()
            out.writelines(lines[-200:])
        ours, theirs = [], []
        for _ in range(ROUNDS):
            theirs.append(timed("fasttext", "supervised", "-input", path, "-output", f"{folder}/fasttext", "-dim", str(WIDTH),
                                "-wordNgrams", "2", "-bucket", str(BUCKETS), "-epoch", str(EPOCHS), "-lr", "0.5",
                                "-thread", str(THREADS)))
            shutil.rmtree(f"{folder}/fovea", ignore_errors=True)
            ours.append(timed(FOVEA, "train", "--task", "classify", "--model", f"{folder}/fovea", "--source", path,
                              "--valid-source", f"{folder}/valid", "--encoder", "none", "--pooling", "mean", "--dim", str(WIDTH),
                              "--word-ngrams", "2", "--buckets", str(BUCKETS), "--tokenizer", "word", "--vocab", "1000000",
                              "--max-epochs", str(EPOCHS), "--max-length", "2000", "--batch-tokens", "4096", "--dropout", "0",
                              "--label-smoothing", "0", "--learning-rate", "0.005", "--warmup", "10",
                              "--checkpoint-every", "1000000", "--threads", str(THREADS)))
        name = os.path.basename(path)
        print(f"{name}: {len(lines)} lines, {EPOCHS} epochs: fovea {statistics.median(ours):.2f} s, fasttext "
              f"{statistics.median(theirs):.2f} s, ratio {statistics.median(ours) / statistics.median(theirs):.2f}", flush=True)


def main():
    if sys.argv[1:]:
        for path in sys.argv[1:]:
            compare(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        made_text(f"{folder}/made")
        compare(f"{folder}/made")


if __name__ == "__main__":
    main()
