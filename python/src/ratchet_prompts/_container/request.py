"""Who may call a container, and what POST /rollout says."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional

MAX_BODY_BYTES = 10 * 1024 * 1024
LONGEST_S = 24 * 60 * 60


class BadRequest(Exception):
    """A request that is refused, with its status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Rollout:
    """A requested rollout. `prompt` None: the container's own; `prompts` has all sections by name."""

    correlation_id: str
    rollout_id: str
    seed: int
    env_name: Optional[str]
    env_config: Dict[str, Any]
    inference_url: str
    inference_api_key: Optional[str]
    params: Dict[str, Any]
    """The model and its parameters, for each model call."""
    prompt: Optional[str]
    prompts: Dict[str, str]
    max_time_s: float


def check_access(headers: Mapping[str, str], key: Optional[str]) -> None:
    """With a key, its holders; without, programs of this machine, but no page by DNS rebinding."""
    if key is not None:
        given = headers.get("x-api-key", "")
        if not hmac.compare_digest(_digest(given), _digest(key)):
            raise BadRequest(401, "unauthorised: X-API-Key is not the key of this container")
    elif not is_own_name(re.sub(r":\d+$", "", headers.get("host", ""))):
        raise BadRequest(421, "without a key, only localhost and 127.0.0.1 are answered")


def is_own_name(host: str) -> bool:
    return host in ("localhost", "::1", "[::1]") or re.fullmatch(r"(::ffff:)?127(\.\d{1,3}){3}", host) is not None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def read_json(headers: Mapping[str, str], body: bytes) -> Any:
    """The body; other content types are refused, because web pages of any origin may send them."""
    if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise BadRequest(415, "Content-Type must be application/json")
    if len(body) > MAX_BODY_BYTES:
        raise BadRequest(413, "the body is larger than 10 MiB")
    try:
        return json.loads(body)
    except ValueError as error:
        raise BadRequest(400, f"the body is not JSON: {error}") from None


def read_rollout(body: Any) -> Rollout:
    root = _object(body, "the body")
    env = _object(root.get("env"), "env")
    config = dict(_object(_object(root.get("policy"), "policy").get("config"), "policy.config"))
    inference_url = _text(config.pop("inference_url", None), "policy.config.inference_url")
    if not re.match(r"https?://[^/]", inference_url):
        raise BadRequest(422, "policy.config.inference_url must be an http or https URL")
    key = config.pop("inference_api_key", None)
    sections = _sections(config.pop("prompt_template", None))
    config.pop("provider", None)
    rollout_id = _text(root.get("rollout_id") or root.get("trace_correlation_id"), "rollout_id")
    seed = env.get("seed")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise BadRequest(422, "env.seed must be an integer")
    name = env.get("env_name")
    system = [section["content"] for section in sections if section["role"] == "system"]
    return Rollout(
        correlation_id=_text(root.get("trace_correlation_id") or rollout_id, "trace_correlation_id"),
        rollout_id=rollout_id,
        seed=seed,
        env_name=name if isinstance(name, str) else None,
        env_config=_object(env.get("config") or {}, "env.config"),
        inference_url=inference_url,
        inference_api_key=key if isinstance(key, str) else None,
        params=config,
        prompt="\n\n".join(system) if system else None,
        prompts=_named(sections),
        max_time_s=_seconds(root.get("safety")),
    )


def _seconds(safety: Any) -> float:
    if safety is None:
        return LONGEST_S
    given = _object(safety, "safety").get("max_time_s", LONGEST_S)
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not given > 0 or math.isnan(given):
        raise BadRequest(422, "safety.max_time_s must be a number of seconds above 0")
    return float(min(given, LONGEST_S))


def _sections(template: Any) -> List[Dict[str, Any]]:
    """The sections in order, without demonstrations, which the service puts into the calls itself."""
    if template is None:
        return []
    where = "policy.config.prompt_template.sections"
    sections = _object(template, "policy.config.prompt_template").get("sections")
    if not isinstance(sections, list):
        raise BadRequest(422, f"{where} must be a list")
    given = [_object(section, f"{where}[{at}]") for at, section in enumerate(sections)]
    prompts = [section for section in given if section.get("demo") is not True]
    for section in prompts:
        if not isinstance(section.get("content"), str):
            raise BadRequest(422, "the content of a section of policy.config.prompt_template must be a text")
    return sorted(prompts, key=lambda section: float(section.get("order") or 0))


def _named(sections: List[Dict[str, Any]]) -> Dict[str, str]:
    counts: Dict[str, int] = {}
    named: Dict[str, str] = {}
    for section in sections:
        name, role = section.get("name"), str(section.get("role"))
        if not isinstance(name, str):
            counts[role] = counts.get(role, 0) + 1
            name = role if counts[role] == 1 else f"{role}_{counts[role]}"
        named[name] = section["content"]
    return named


def _object(value: Any, name: str) -> Dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRequest(422, f"{name} must be an object")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise BadRequest(422, f"{name} must be a non-empty text")
    return value
