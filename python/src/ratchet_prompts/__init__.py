"""Ratchet for Python: better prompts from data and a metric.

import ratchet_prompts as ratchet

best = ratchet.optimize(rows, "Classify: {{text}}", metric=score, model="openai/gpt-6-luna")
"""

from . import adapters
from ._container.model import AsyncModel, Model, ModelError
from ._container.runner import RolloutContext
from ._container.score import Score
from ._version import __version__
from .async_client import AsyncClient
from .client import Client
from .containers import Container, RunningContainer, container
from .errors import ConfigurationError, JobFailed, RatchetError, ServiceUnreachable, WaitTimeout
from .optimization import evaluate, optimize
from .prompts import Prompt
from .results import EvaluationResult, Optimization

__all__ = [
    "AsyncClient",
    "AsyncModel",
    "Client",
    "ConfigurationError",
    "Container",
    "EvaluationResult",
    "JobFailed",
    "Model",
    "ModelError",
    "Optimization",
    "Prompt",
    "RatchetError",
    "RolloutContext",
    "RunningContainer",
    "Score",
    "ServiceUnreachable",
    "WaitTimeout",
    "__version__",
    "adapters",
    "container",
    "evaluate",
    "optimize",
]
