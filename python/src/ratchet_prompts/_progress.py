"""What is shown while a job runs: lines on standard error, or one display in a notebook."""

from __future__ import annotations

import html
import sys
from typing import Any, Callable, List, Mapping, Optional

from ._report import dollars, number, unseen
from .types import Event


class Progress:
    """A line per generation. In a notebook the lines are replaced in place."""

    def __init__(self, shown: bool) -> None:
        self._lines: List[str] = []
        self._handle: Any = None
        self._show: Callable[[], None] = (self._choose() if shown else None) or (lambda: None)

    def note(self, line: str) -> None:
        self._lines.append(line)
        self._show()

    def event(self, event: Event) -> None:
        if event["type"] == "generation_complete":
            self.note("  " + _generation(event["data"]))
        elif event["type"] == "budget_warning":
            self.note(f"  {event['message']}")

    def _choose(self) -> Optional[Callable[[], None]]:
        if not _in_notebook():
            return lambda: print(self._lines[-1], file=sys.stderr, flush=True)
        from IPython.display import HTML, display

        def show() -> None:
            shown = HTML(f"<pre>{html.escape(chr(10).join(self._lines))}</pre>")
            if self._handle is None:
                self._handle = display(shown, display_id=True)
            else:
                self._handle.update(shown)

        return show


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def _generation(data: Mapping[str, Any]) -> str:
    estimate = ""
    if data.get("estimated_reward") is not None:
        bounds = unseen(data.get("estimated_reward_interval"))
        estimate = f", estimate {number(data['estimated_reward'])}{bounds}"
    return (
        f"generation {data['generation']}: {data['rollouts_completed']} answers, "
        f"best reward {number(data['best_reward'])}{estimate}, {dollars(data['cost_usd'])}"
    )
