"""Model calls of a rollout, through its URL, so that the service sees prompt, tokens and cost."""

from __future__ import annotations

import json
import threading
import time
from typing import Any, Dict, Mapping, Optional, Sequence

import httpx

from .._retries import retry_status
from ..errors import RatchetError
from ..types import Message
from .request import Rollout


class ModelError(RatchetError):
    """A failed model call. `retry_status`: the status of the rollout that asks for a retry."""

    def __init__(self, message: str, retry_status: Optional[int], retry_after: Optional[str] = None) -> None:
        super().__init__(message)
        self.retry_status = retry_status
        self.retry_after_header = retry_after


class RolloutStopped(Exception):
    """The rollout's time is up, or its caller has disconnected."""


class ModelAddress:
    """Where the model of a rollout is, for clients of your own: OpenAI's take the first two."""

    def __init__(self, rollout: Rollout, stopped: threading.Event) -> None:
        self.base_url = rollout.inference_url.rstrip("/")
        self.api_key = rollout.inference_api_key or ""
        self.name = str(rollout.params.get("model", ""))
        self.params = {name: value for name, value in rollout.params.items() if name != "model"}
        self._deadline = time.monotonic() + rollout.max_time_s
        self._stopped = stopped

    def _arguments(self, messages: Sequence[Message], params: Mapping[str, Any], again: bool) -> Dict[str, Any]:
        left = self._deadline - time.monotonic()
        if self._stopped.is_set() or left <= 0:
            raise RolloutStopped
        headers = {"authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        if again:
            # The recorded answer, if the first one broke off on its way.
            headers["x-ratchet-retry"] = "true"
        body = {"model": self.name, **self.params, **params, "messages": list(messages)}
        url = f"{self.base_url}/chat/completions"
        return {"url": url, "json": body, "headers": headers, "timeout": left}

    def _unreachable(self, error: Exception) -> ModelError:
        reason = str(error) or type(error).__name__
        return ModelError(f"the model could not be reached at {self.base_url}: {reason}", 502)


class Model(ModelAddress):
    """Calls the rollout's model: `model(messages, temperature=0)` returns the text of the answer.

    A text in place of messages is a user message.
    """

    def __init__(self, rollout: Rollout, stopped: threading.Event, client: httpx.Client) -> None:
        super().__init__(rollout, stopped)
        self._client = client

    def __call__(self, messages: str | Sequence[Message], **params: Any) -> str:
        for again in (False, True):
            try:
                return read_answer(self._client.post(**self._arguments(as_messages(messages), params, again)))
            except httpx.TransportError as error:
                if again or not _broke_off(error):
                    raise self._unreachable(error) from error
        raise AssertionError


class AsyncModel(ModelAddress):
    """The same with `await`."""

    def __init__(self, rollout: Rollout, stopped: threading.Event, client: httpx.AsyncClient) -> None:
        super().__init__(rollout, stopped)
        self._client = client

    async def __call__(self, messages: str | Sequence[Message], **params: Any) -> str:
        for again in (False, True):
            try:
                return read_answer(await self._client.post(**self._arguments(as_messages(messages), params, again)))
            except httpx.TransportError as error:
                if again or not _broke_off(error):
                    raise self._unreachable(error) from error
        raise AssertionError


def as_messages(messages: str | Sequence[Message]) -> Sequence[Message]:
    return [{"role": "user", "content": messages}] if isinstance(messages, str) else messages


def _broke_off(error: httpx.TransportError) -> bool:
    return isinstance(error, (httpx.ReadError, httpx.RemoteProtocolError))


def read_answer(response: httpx.Response) -> str:
    """The text of a chat completion."""
    status, text = response.status_code, response.text
    if not response.is_success:
        message = f"the model answered {status}: {text[:500]}"
        again = retry_status(status, response.headers.get("x-should-retry"))
        raise ModelError(message, again, response.headers.get("retry-after") if again == 503 else None)
    try:
        answer = json.loads(text)
    except ValueError:
        raise ModelError(f"the model's answer is not JSON: {text[:200]}", 502) from None
    try:
        content = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        content = None
    if not isinstance(content, str):
        raise ModelError("the response has no text (choices[0].message.content)", None)
    return content
