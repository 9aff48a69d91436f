"""Ratchet in place of other optimizers: `ratchet.adapters.gepa` and `ratchet.adapters.dspy`."""
