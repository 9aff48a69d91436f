from dataclasses import dataclass
from typing import Any


@dataclass
class EvaluationBatch:
    outputs: list
    scores: list
    trajectories: Any = None
