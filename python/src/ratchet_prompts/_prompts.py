"""Prompts and models as users write them."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Sequence, Union

from .errors import ConfigurationError
from .types import Message

PromptLike = Union[str, Sequence[Message], Mapping[str, Any]]
# Braces around a plain name, as the service reads them before it knows the columns.
_PLACEHOLDER = re.compile(r"\{\{\s*\w[\w\- ]*\s*\}\}")


def messages_of(prompt: PromptLike) -> List[Message]:
    """A text with placeholders is the user message; any other is the system message."""
    if isinstance(prompt, str):
        if not prompt.strip():
            raise ConfigurationError("prompt: is empty")
        return [{"role": "user" if _PLACEHOLDER.search(prompt) else "system", "content": prompt}]
    given = prompt.get("messages") if isinstance(prompt, Mapping) else prompt
    messages = list(given or [])
    if not messages or not all(isinstance(each, Mapping) and {"role", "content"} <= each.keys() for each in messages):
        raise ConfigurationError("prompt: must be a text, or a list of messages with role and content")
    return messages


def text_of(messages: Sequence[Message]) -> str:
    """The texts without messages that are only placeholders."""
    texts = [message["content"] for message in messages]
    return "\n\n".join(text for text in texts if _PLACEHOLDER.sub("", text).strip()) or "\n\n".join(texts)


def model_of(name: Union[str, Mapping[str, Any]], argument: str = "model") -> Dict[str, Any]:
    """`openai/gpt-6-luna`; a name alone is a provider and its model; a dict is as in the API."""
    if isinstance(name, Mapping):
        return dict(name)
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f'{argument}: must be "provider/model", such as "openai/gpt-6-luna"')
    provider, slash, model = name.partition("/")
    return {"provider": provider, "model": model if slash else name}
