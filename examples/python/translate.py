"""Trains a small model with a callback for every report, translates, and looks at the attention."""
import sys
import tempfile
from pathlib import Path

import fovea

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
digits = ["zero one two three four five six seven eight nine".split(), list("0123456789")]
lines = [(f"{digits[0][a]} {digits[0][b]}", f"{digits[1][a]} {digits[1][b]}") for a in range(10) for b in range(10)] * 5
for side, name in enumerate(("source", "target")):
    (folder / name).write_text("".join(line[side] + "\n" for line in lines))

reports = []
fovea.train(model=folder / "model", source=folder / "source", target=folder / "target", valid_source=folder / "source",
            valid_target=folder / "target", preset="transformer-tiny", layers=1, dim=32, ffn=64, tokenizer="word",
            dropout=0, max_steps=200, report_every=50, checkpoint_every=200, batch_tokens=512, learning_rate=5e-3, warmup=50,
            on_report=reports.append)
print("reports:", [r["step"] for r in reports if "loss" in r])

translator = fovea.Translator(folder / "model")
best = translator.translate("four two", attention=True)
print(best.text, best.attention.source, best.attention.target, best.attention.weights.shape)
for t in fovea.translate_lines(translator, ["one nine", "eight three"]):
    print(t.text)
print("cross-attention [layer, head, target, source]:", translator.trace("four two").output.attention.cross.shape)
print(f"chrF {fovea.chrf([best.text], ['4 2']).score:.0f}, picture: {'<svg' in best._repr_html_()}")
