"""The real service, named by RATCHET_URL and RATCHET_API_KEY, and real HTTP servers for the rest."""

from __future__ import annotations

import os
from typing import Any, Iterator

import pytest
from support.proxy import FaultyProxy

import ratchet_prompts as ratchet


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["RATCHET_URL"]


@pytest.fixture
def client(url: str) -> Iterator[ratchet.Client]:
    with ratchet.Client() as client:
        yield client


@pytest.fixture
def proxy(url: str) -> Iterator[FaultyProxy]:
    with FaultyProxy(url) as proxy:
        yield proxy


@pytest.fixture
def faulty(proxy: FaultyProxy) -> Iterator[ratchet.Client]:
    """A client behind the proxy."""
    with ratchet.Client(proxy.url) as client:
        yield client


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


ROWS = [
    {"text": text, "label": label}
    for label, texts in {
        "north": ["My parcel has not arrived", "Where is my delivery?", "The courier left it at a wrong door"],
        "south": ["I want to send the shoes back", "How do I return a jacket?", "Exchange this for a larger size"],
        "east": ["I was billed twice", "The invoice is wrong", "Which cards can I pay with?"],
    }.items()
    for text in texts
]
PROMPT = "Classify the message. Answer with exactly one of the labels, and nothing else."
LOCAL = {"provider": "local", "model": "local"}


@pytest.fixture
def evaluation() -> Any:
    """The request of an evaluation on the rows."""
    rows = [{**row, "input": f"Message: {row['text']}\n\nLabels: east, north, south"} for row in ROWS]
    return {
        "dataset": {"rows": rows, "expected": "label"},
        "scorer": "exact",
        "policy": LOCAL,
        "candidate": {"messages": [{"role": "system", "content": PROMPT}]},
    }
