"""What a rollout or a metric returns."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Optional, Tuple, Union

ScoreLike = Union[float, Tuple[float, Optional[str]], Mapping[str, Any], "Score"]


@dataclass(frozen=True)
class Score:
    """A reward (best: 1 by convention) and feedback, from which the next prompt is written.

    `details["expected"]` is the right answer, which a session may show as an example.
    """

    reward: float
    feedback: Optional[str] = None
    details: Dict[str, Any] = field(default_factory=dict)


def score_of(value: Any, what: str) -> Score:
    """Reads a number, a pair with feedback, or an object with `reward` or `score`; raises TypeError or ValueError."""
    if isinstance(value, Score):
        reward, feedback, details = value.reward, value.feedback, value.details
    elif isinstance(value, tuple) and len(value) == 2:
        (reward, feedback), details = value, {}
    elif isinstance(value, Mapping) and ("reward" in value or "score" in value):
        reward, feedback = value["reward" if "reward" in value else "score"], value.get("feedback")
        details = dict(value.get("details") or {})
    elif hasattr(value, "score") and not callable(value.score):
        # As metrics of DSPy and gepa return it.
        reward, feedback, details = value.score, getattr(value, "feedback", None), {}
    else:
        reward, feedback, details = value, None, {}
    try:
        number = float(reward)
    except (TypeError, ValueError):
        raise TypeError(
            f"{what} returned {value!r:.200}; it must return a number, (number, feedback), "
            "or a dict with reward and feedback"
        ) from None
    if not math.isfinite(number):
        raise ValueError(f"{what} returned the reward {number}, which is not a finite number")
    try:
        json.dumps(details, ensure_ascii=False, allow_nan=False, default=str).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{what} returned details that are no JSON: {error}") from None
    return Score(number, None if feedback is None else str(feedback), details)
