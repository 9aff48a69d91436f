"""Results as text and as HTML; everything from outside is escaped."""

from __future__ import annotations

import difflib
import html
from typing import List, Optional, Sequence, Tuple

from .types import HistoryEntry, Interval

LARGEST = 1.7e308
"""The service sends an interval without a bound as the largest number."""
_WIDTH, _HEIGHT, _EDGE = 320, 120, 28
_COLOURS = {"+": "#1a7f37", "-": "#cf222e", "@": "#6e7781"}


def number(value: Optional[float]) -> str:
    if value is None:
        return "none"
    if abs(value) >= LARGEST:
        return "-∞" if value < 0 else "∞"
    return f"{value:.3f}"


def signed(value: float) -> str:
    """A difference, as `+0.266`."""
    return number(value) if value < 0 else f"+{number(value)}"


def unseen(interval: Optional[Interval]) -> str:
    """The 95 % interval of a mean reward for rows that were not run, behind it."""
    if interval is None:
        return ""
    return f" (unseen rows: {number(interval['low'])} to {number(interval['high'])})"


def dollars(usd: Optional[float]) -> str:
    return "cost unknown" if usd is None else f"${usd:.4f}"


def diff_lines(before: str, after: str) -> List[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "best", lineterm="", n=2)
    return list(lines)


def diff_html(before: str, after: str) -> str:
    lines = diff_lines(before, after)
    if not lines:
        return "<p>The prompt is unchanged.</p>"
    shown = "\n".join(
        f'<span style="color:{_COLOURS.get(line[:1], "inherit")}">{html.escape(line)}</span>' for line in lines
    )
    return f'<pre style="white-space:pre-wrap">{shown}</pre>'


def table_html(rows: Sequence[Tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{cells}</table>"


def curve_svg(history: Sequence[HistoryEntry]) -> str:
    """The best measured reward after each generation."""
    if not history:
        return ""
    rewards = [entry["best_reward"] for entry in history]
    last = max(entry["generation"] for entry in history) or 1
    low, high = min(0.0, *rewards), max(1.0, *rewards)

    def x(generation: float) -> float:
        return _EDGE + generation / last * (_WIDTH - 2 * _EDGE)

    def y(reward: float) -> float:
        return _HEIGHT - _EDGE + (low - reward) / (high - low) * (_HEIGHT - 1.5 * _EDGE)

    points = " ".join(f"{x(entry['generation']):.1f},{y(entry['best_reward']):.1f}" for entry in history)
    dots = "".join(
        f'<circle cx="{x(entry["generation"]):.1f}" cy="{y(entry["best_reward"]):.1f}" r="2.5" fill="#0969da">'
        f"<title>generation {entry['generation']}: {entry['best_reward']:.3f}</title></circle>"
        for entry in history
    )
    labels = [(2, y(low), f"{low:g}"), (2, y(high), f"{high:g}"), (_EDGE, _HEIGHT - 8, "0")]
    labels.append((_WIDTH - _EDGE - 6, _HEIGHT - 8, str(last)))
    texts = "".join(f'<text x="{left:.0f}" y="{top:.0f}">{text}</text>' for left, top, text in labels)
    axis = f"M{_EDGE} {y(high):.1f}V{y(low):.1f}H{_WIDTH - _EDGE}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="best reward after each generation" font-size="10" fill="currentColor">'
        f'<path d="{axis}" fill="none" stroke="#8c959f"/>'
        f'<polyline points="{points}" fill="none" stroke="#0969da" stroke-width="1.5"/>{dots}{texts}</svg>'
    )
