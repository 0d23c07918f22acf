"""Fovea: attention for C++, and from Python.

    import fovea
    result = fovea.attend(q, k, v, causal=True, weights=True)   # NumPy in, NumPy out
    print(fovea.Translator("en-de").translate("a cat").text)
"""
from __future__ import annotations

import os
from itertools import islice
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Union

from ._fovea import (
    Adam, AlternatingCoAttention, Attended, AttentionMap, AttentionRecord, AttentionalRnn, AverageAttention,
    Bleu, BlockMask, Captioner, Chat, Chrf, Classification, Classifier, CoAttended, Completer, ContextPooling, CopyGate,
    CoverageAttention, Covered, DecodedSteps, DocumentAttention, Embedding, Error, FileError, Generated,
    GenerationTrace, GraphAttention, Gru, HierarchicalAttention, LayerNorm, LearnedPooling, Linear, Lstm,
    MemoryNetwork, MemoryRead, MixedEmbeddings, MultiDimensional, MultiDimensionalPooling, MultiHead,
    MultiRepresentational, ParallelCoAttention, Parameters, Pointer, Rouge, ShapeError, Ter, Translator,
    UsageError, Var, __version__, attend, attend_backward, backward, bleu, chrf, concat, copy_mixture,
    coverage_loss, cross_entropy, exp, export_model, gelu, gelu_tanh, import_model, log, log_softmax, matmul, mean,
    pointing_loss, relu, reshape, rouge, set_threads, sigmoid, slice, softmax, sum, swish, tanh, ter, threads,
    transpose,
)
from ._fovea import _train

__all__ = [
    "Adam", "AlternatingCoAttention", "Attended", "AttentionMap", "AttentionRecord", "AttentionalRnn",
    "AverageAttention", "Bleu", "BlockMask", "Captioner", "Chat", "Chrf", "Classification", "Classifier", "CoAttended",
    "Completer", "ContextPooling", "CopyGate", "CoverageAttention", "Covered", "DecodedSteps",
    "DocumentAttention", "Embedding", "Error", "FileError", "Generated", "GenerationTrace", "GraphAttention",
    "Gru", "HierarchicalAttention", "LayerNorm", "LearnedPooling", "Linear", "Lstm", "MemoryNetwork",
    "MemoryRead", "MixedEmbeddings", "MultiDimensional", "MultiDimensionalPooling", "MultiHead",
    "MultiRepresentational", "ParallelCoAttention", "Parameters", "Pointer", "Rouge", "ShapeError", "Ter",
    "Translator", "UsageError", "Var", "__version__", "attend", "attend_backward", "backward", "bleu", "chrf",
    "classify_lines", "concat", "copy_mixture", "coverage_loss", "cross_entropy", "exp", "export_model", "gelu",
    "gelu_tanh", "import_model", "log", "log_softmax", "matmul", "mean", "pointing_loss", "relu", "reshape", "rouge",
    "set_threads", "sigmoid", "slice", "softmax", "sum", "swish", "tanh", "ter", "threads", "train",
    "translate_lines", "transpose",
]

Report = Mapping[str, Any]


def train(
    *,
    model: Union[str, "os.PathLike[str]"],
    on_report: Optional[Callable[[Report], object]] = None,
    **options: Any,
) -> str:
    """A whole training, as `fovea train` does it, with the command line's names (`_` for `-`).

    A switch is given as True. `on_report` is called with a dictionary for every report and validation; what it raises,
    and Ctrl-C, ends the training with a checkpoint, from which `resume=True` continues. Returns why it ended: "limit",
    "patience" or "stopped". Raises UsageError naming the keyword that cannot be, FileError naming the file.
    """
    return _train({"model": model, **options}, on_report)


def _blocks(lines: Iterable[str], block: int) -> Iterator[list[str]]:
    iterator = iter(lines)
    while part := [line.rstrip("\r\n") for line in islice(iterator, block)]:
        yield part


def translate_lines(translator: Translator, lines: Iterable[str], block: int = 4096, **options: Any) -> Iterator[Generated]:
    """The translations of any number of lines, a block at a time: files larger than memory.

        with open("in.txt") as lines:
            for t in fovea.translate_lines(translator, lines):
                print(t.text)
    """
    for part in _blocks(lines, block):
        yield from translator.translate(part, **options)


def classify_lines(classifier: Classifier, lines: Iterable[str], block: int = 4096) -> Iterator[Classification]:
    """The same of a classifier."""
    for part in _blocks(lines, block):
        yield from classifier.classify(part)
