"""Ratchet in place of other optimizers: `ratchet.adapters.gepa` and `ratchet.adapters.dspy`."""

from . import dspy, gepa

__all__ = ["dspy", "gepa"]
