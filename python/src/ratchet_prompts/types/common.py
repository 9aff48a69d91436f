"""Types of requests and answers alike."""

from __future__ import annotations

from typing import Any, Mapping, Sequence, TypedDict, Union

Json = Any
Seeds = Union[str, Sequence[int], Mapping[str, int]]
Metadata = Mapping[str, Union[str, int, float, bool]]
Row = Mapping[str, Any]


class FieldError(TypedDict):
    pointer: str
    message: str


class _NamedMessage(TypedDict, total=False):
    name: str


class Message(_NamedMessage):
    role: str
    content: str


class Prompt(TypedDict):
    messages: Sequence[Message]
