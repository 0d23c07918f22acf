"""A model of one's own: which word of five is marked? Embeddings, self-attention, a linear layer, Adam."""
import numpy as np

import fovea

rng = np.random.default_rng(1)
parameters = fovea.Parameters(seed=3)
words = fovea.Embedding(parameters, "words", 12, 32)
places = parameters.get("places", [5, 32], init="embedding")
attention = fovea.MultiHead(parameters, "attention", dim=32, heads=4)
norm = fovea.LayerNorm(parameters, "norm", 32)
output = fovea.Linear(parameters, "output", 32, 6)
adam = fovea.Adam(parameters, rate=3e-3)


def states(ids):
    placed = fovea.concat([fovea.reshape(places, [1, 5, 32])] * len(ids), 0)
    x = words(ids) + placed * np.sqrt(32.0)
    return fovea.mean(norm(x + attention(x).context), 1)  # [batch, 32]


def batch(size):
    ids = rng.integers(2, 12, (size, 5))
    marked = rng.integers(0, 5, size)
    ids[np.arange(size), marked] = 1  # token 1 is the mark
    return ids, marked + 1            # label 0 would be padding


for step in range(150):
    ids, labels = batch(64)
    weight = fovea.transpose(output.weight, 0, 1)
    loss = fovea.cross_entropy(states(ids), weight, labels, output.bias) / 64
    loss.backward()
    adam.step()

ids, labels = batch(200)
accuracy = (output(states(ids)).value.argmax(1) == labels).mean()
print("right:", "nearly always" if accuracy > 0.95 else f"{accuracy:.2f}")
