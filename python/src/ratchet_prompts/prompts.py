"""Prompts of deployments, for applications that call the model themselves."""

from __future__ import annotations

import copy
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .errors import ConfigurationError
from .types import Message

_BRACES = re.compile(r"\{\{([^{}]*)\}\}")
_PLAIN_NAME = re.compile(r"\w[\w -]*")


class Prompt:
    """A prompt; `source` is "service", "file" (of an earlier process) or "fallback"."""

    def __init__(self, name: str, data: Mapping[str, Any], source: str) -> None:
        self.name: str = data.get("name", name)
        self.version: Optional[int] = data.get("version")
        self.deployment_id: Optional[str] = data.get("deployment_id")
        self.snapshot_id: Optional[str] = data.get("snapshot_id")
        self.labels: List[str] = list(data.get("labels", ()))
        self.provider: Optional[str] = data.get("provider")
        self.model: Optional[str] = data.get("model")
        self.source = source
        self._messages = copy.deepcopy(list(data["messages"]))
        self._parameters = copy.deepcopy(dict(data.get("parameters", {})))
        shown = data.get("demonstrations")
        self._demonstrations = range(shown["start"], shown["end"]) if shown else range(0)
        self.variables: List[str] = list(data["variables"] if "variables" in data else _placeholders(self._messages))

    @property
    def parameters(self) -> Dict[str, Any]:
        """The further fields of a request."""
        return copy.deepcopy(self._parameters)

    def messages(self, **variables: Any) -> List[Message]:
        """The messages with the placeholders filled in; those of the conversation follow them."""
        return self.fill(variables)

    def fill(self, variables: Mapping[str, Any]) -> List[Message]:
        """As `messages`, for names that are no keywords."""
        missing = [name for name in self.variables if name not in variables]
        if missing:
            raise ConfigurationError(f"variables: {', '.join(missing)} missing; {self.name} has {{{{{missing[0]}}}}}")
        values = {name: str(variables[name]) for name in self.variables}

        def value(found: re.Match[str]) -> str:
            return values.get(found[1].strip(), found[0])

        return [
            message if index in self._demonstrations else {**message, "content": _BRACES.sub(value, message["content"])}  # type: ignore[typeddict-item]
            for index, message in enumerate(copy.deepcopy(self._messages))
        ]

    def request(
        self, variables: Optional[Mapping[str, Any]] = None, messages: Sequence[Mapping[str, Any]] = ()
    ) -> Dict[str, Any]:
        """The body of a chat completion; `messages`: those of the conversation."""
        return {"model": self.model, **self.parameters, "messages": [*self.fill(variables or {}), *messages]}


def _placeholders(messages: Sequence[Mapping[str, Any]]) -> List[str]:
    names = [inside.strip() for message in messages for inside in _BRACES.findall(message["content"])]
    return [name for name in dict.fromkeys(names) if _PLAIN_NAME.fullmatch(name)]
