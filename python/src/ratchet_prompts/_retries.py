"""Which answers pass: the table of the service (`src/clients/net/retry-advice.ts`)."""

from __future__ import annotations

from typing import Optional

PASSING = frozenset({408, 425, 429, 498, 499})
#: A method or a version of HTTP that the server does not have.
LASTING = frozenset({501, 505})
#: Limits of rate and of capacity.
PUSHBACK = frozenset({429, 498, 503, 529})


def may_pass(status: int, advice: Optional[str] = None) -> bool:
    """Whether the same request may succeed later; `advice`: of `x-should-retry`.

    409 is not in the table: a conflict of Ratchet stays.
    """
    if advice in ("true", "false"):
        return advice == "true"
    return status in PASSING or (status >= 500 and status not in LASTING)


def retry_status(status: int, advice: Optional[str] = None) -> Optional[int]:
    """The status of a rollout whose model call was answered so; None: another try would fail, too."""
    if not may_pass(status, advice):
        return None
    return 503 if status in PUSHBACK else 502
