"""Causal self-attention: the weights, the context, and the gradient."""
import numpy as np

import fovea

x = np.array([[[1, 0], [0, 1], [2, 1]]], dtype=np.float32)  # [batch, time, width]
result = fovea.attend(x, causal=True, weights=True)
for i in range(3):
    weights, context = result.weights[0, i], result.context[0, i]
    print(f"step {i}: weights {' '.join(f'{w:.2f}' for w in weights)}, context ({context[0]:.2f}, {context[1]:.2f})")

v = fovea.Var(x)
fovea.sum(fovea.attend(v, causal=True).context).backward()
print(f"the gradient of the first step is ({v.grad[0, 0, 0]:.2f}, {v.grad[0, 0, 1]:.2f})")
