"""Rows from what users have: lists of dicts and pandas DataFrames."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List, Mapping

from .errors import ConfigurationError

if TYPE_CHECKING:
    import pandas


def rows_of(data: Any) -> List[Dict[str, Any]]:
    """The rows as JSON values; NaN and NaT become null, times ISO 8601."""
    if is_frame(data):
        if not data.columns.is_unique:
            raise ConfigurationError("data: two columns of the DataFrame have the same name")
        text = data.to_json(orient="records", date_format="iso", double_precision=15)
        named: List[Dict[str, Any]] = json.loads(text)
        return named
    if isinstance(data, Mapping) or not hasattr(data, "__iter__"):
        raise ConfigurationError("data: give a list of dicts, a DataFrame, or the path of a JSON, JSONL or CSV file")
    rows = list(data)
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ConfigurationError(f"data: row {number} is a {type(row).__name__}, and must be a dict")
        try:
            json.dumps(dict(row), ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigurationError(f"data: row {number} is no JSON: {error}") from None
    return [dict(row) for row in rows]


def is_frame(data: Any) -> bool:
    """Whether it is a DataFrame of pandas, which need not be installed."""
    return hasattr(data, "columns") and hasattr(data, "to_json")


def frame_of(rows: List[Dict[str, Any]]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise ImportError("a DataFrame needs pandas: pip install 'ratchet-prompts[pandas]'") from None
    return pandas.DataFrame(rows)
