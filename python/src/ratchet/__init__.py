"""Ratchet for Python: better prompts from data and a metric.

best = ratchet.optimize(rows, "Classify: {{text}}", metric=score, model="openai/gpt-4o-mini")
"""

from ._version import __version__
from .async_client import AsyncClient
from .client import Client
from .errors import ConfigurationError, JobFailed, RatchetError, ServiceUnreachable, WaitTimeout

__all__ = [
    "AsyncClient",
    "Client",
    "ConfigurationError",
    "JobFailed",
    "RatchetError",
    "ServiceUnreachable",
    "WaitTimeout",
    "__version__",
]
