"""Ratchet in place of other optimizers: `ratchet_prompts.adapters.gepa` and `ratchet_prompts.adapters.dspy`."""

from . import dspy, gepa

__all__ = ["dspy", "gepa"]
