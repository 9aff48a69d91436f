"""Rows from what users have: lists of dicts and pandas DataFrames."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import TYPE_CHECKING, Any, Dict, List, Mapping

from .errors import ConfigurationError

if TYPE_CHECKING:
    import pandas

MOST_LEVELS = 64
"""Of the service."""


def rows_of(data: Any) -> List[Dict[str, Any]]:
    """The rows as JSON values.

    NaN, NaT and NA become null, times ISO 8601, decimals texts with all their digits, and scalars
    and arrays of numpy numbers and lists.
    """
    if is_frame(data):
        if not data.columns.is_unique:
            raise ConfigurationError("data: two columns of the DataFrame have the same name")
        data = data.to_dict(orient="records")
    if isinstance(data, Mapping) or not hasattr(data, "__iter__"):
        raise ConfigurationError("data: give a list of dicts, a DataFrame, or the path of a JSON, JSONL or CSV file")
    return [_row(row, number) for number, row in enumerate(data)]


def _row(row: Any, number: int) -> Dict[str, Any]:
    if not isinstance(row, Mapping):
        raise ConfigurationError(f"data: row {number} is a {type(row).__name__}, and must be a dict")
    values: Dict[str, Any] = {}
    for name, value in row.items():
        if str(name) in values:
            raise ConfigurationError(f'data: row {number} has the column "{name}" twice')
        try:
            values[str(name)] = _value(value)
            str(name).encode()
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f'data: row {number} has a value in "{name}" that is no JSON: {error}') from None
    return values


def _value(value: Any, level: int = 0) -> Any:
    """A value of Python, numpy or pandas as JSON; raises TypeError or ValueError."""
    if level > MOST_LEVELS:
        raise ValueError(f"it is nested more than {MOST_LEVELS} levels deep")
    if value is None or isinstance(value, bool) or type(value) is int:
        return value
    if isinstance(value, str):
        value.encode()
        return str(value)
    if isinstance(value, float):
        if math.isinf(value):
            raise ValueError("it is infinite")
        return None if math.isnan(value) else float(value)
    if isinstance(value, Mapping):
        return {str(name): _value(inner, level + 1) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(inner, level + 1) for inner in value]
    if isinstance(value, decimal.Decimal):
        return None if value.is_nan() else str(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    # Scalars and arrays of numpy, without importing it.
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        plain = value.tolist()
        if type(plain) is not type(value):
            return _value(plain, level + 1)
    if isinstance(value, int):
        return int(value)
    raise TypeError(f"it is a {type(value).__name__}; give a text, number, list or dict")


def is_frame(data: Any) -> bool:
    """Whether it is a DataFrame of pandas, which need not be installed."""
    return hasattr(data, "columns") and hasattr(data, "to_json")


def frame_of(rows: List[Dict[str, Any]]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise ImportError("a DataFrame needs pandas: pip install 'ratchet-prompts[pandas]'") from None
    return pandas.DataFrame(rows)
