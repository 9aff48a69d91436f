"""Rows and rewards in the forms that people's own code gives them."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
from types import SimpleNamespace
from typing import Any, Dict

import numpy
import pandas
import pytest

import ratchet_prompts as ratchet
from ratchet_prompts._container.score import score_of
from ratchet_prompts._metric import check_metric, metric_server
from ratchet_prompts._rows import rows_of

FORMS = {
    "whole": 2**53 + 1,
    "float": 0.1 + 0.2,
    "small": 1e-300,
    "nan": float("nan"),
    "none": None,
    "bool": True,
    "decimal": decimal.Decimal("1.2345678901234567890123"),
    "day": datetime.date(2026, 1, 2),
    "time": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc),
    "numpy": numpy.int64(3),
    "half": numpy.float32(0.5),
    "array": numpy.array([[1, 2], [3, 4]]),
    "na": pandas.NA,
    "nat": pandas.NaT,
    "stamp": pandas.Timestamp("2026-01-02"),
    "nested": {"z": (1, {"ü": [None, float("nan")]}), "a": numpy.bool_(False)},
    1: "a name that is no text",
}
PLAIN = {
    "whole": 2**53 + 1,
    "float": 0.1 + 0.2,
    "small": 1e-300,
    "nan": None,
    "none": None,
    "bool": True,
    "decimal": "1.2345678901234567890123",
    "day": "2026-01-02",
    "time": "2026-01-02T03:04:05+00:00",
    "numpy": 3,
    "half": 0.5,
    "array": [[1, 2], [3, 4]],
    "na": None,
    "nat": None,
    "stamp": "2026-01-02T00:00:00",
    "nested": {"z": [1, {"ü": [None, None]}], "a": False},
    "1": "a name that is no text",
}


def test_rows_keep_values_names_and_order():
    (row,) = rows_of([FORMS])
    assert row == PLAIN
    assert list(row) == list(PLAIN) and list(row["nested"]) == ["z", "a"]
    assert {type(value) for value in row.values()} <= {int, float, str, bool, list, dict, type(None)}


def test_a_frame_is_the_rows_that_it_holds():
    numbers = {"n": [2**53 + 1, 7], "f": [math.pi, 1e-20], "most": [1.7976931348623157e308, 123456789.123456789]}
    given = {**numbers, "gap": [float("nan"), 1.5], "list": [["b", "a"], None], "dict": [{"z": 1, "a": 2}, {}]}
    frame = pandas.DataFrame({**given, "day": pandas.to_datetime(["2026-01-02", None])})
    rows = rows_of(frame)
    assert rows == [
        {**{name: values[0] for name, values in given.items()}, "gap": None, "day": "2026-01-02T00:00:00"},
        {**{name: values[1] for name, values in given.items()}, "day": None},
    ]
    assert list(rows[0]) == list(frame.columns) and list(rows[0]["dict"]) == ["z", "a"]


@pytest.mark.parametrize(
    "value", [{1, 2}, b"bytes", float("inf"), object(), 1j, "\ud800", datetime.timedelta(1), [[{"deep": {1}}]]]
)
def test_a_value_that_is_no_json_is_named_by_row_and_column(value):
    with pytest.raises(ratchet.ConfigurationError, match=r'row 1 .*"bad"'):
        rows_of([{"bad": 1}, {"good": 1, "bad": value}])


def test_a_value_within_itself_is_refused():
    loop: Dict[str, Any] = {}
    loop["loop"] = loop
    with pytest.raises(ratchet.ConfigurationError, match="nested"):
        rows_of([loop])


@pytest.mark.parametrize(
    ("returned", "reward", "feedback"),
    [
        (True, 1, None),
        (numpy.float64(0.5), 0.5, None),
        (numpy.bool_(True), 1, None),
        (numpy.array(0.5), 0.5, None),
        (decimal.Decimal("0.5"), 0.5, None),
        (fractions.Fraction(1, 2), 0.5, None),
        ("0.5", 0.5, None),
        ((1, "good"), 1, "good"),
        ({"reward": 0.5, "feedback": "f"}, 0.5, "f"),
        ({"score": 0.5, "feedback": "f"}, 0.5, "f"),
        (SimpleNamespace(score=0.5, feedback="f"), 0.5, "f"),
        (SimpleNamespace(score=numpy.float64(1)), 1, None),
    ],
)
def test_a_reward_has_many_forms(returned, reward, feedback):
    score = score_of(returned, "it")
    assert (score.reward, score.feedback, type(score.reward)) == (reward, feedback, float)


@pytest.mark.parametrize(
    "returned", [None, "yes", float("nan"), float("inf"), [1, "a"], {}, (1, "a", "b"), pandas.NA, 1j]
)
def test_what_is_no_reward_is_refused(returned):
    with pytest.raises((TypeError, ValueError), match=r"^it returned"):
        score_of(returned, "it")


@pytest.mark.anyio
@pytest.mark.parametrize(("given", "reward"), [(1 + 2**-52, 1), (-1e-17, 0), (1.0, 1), (0.3, 0.3)])
async def test_a_reward_may_miss_its_bounds_by_rounding(given, reward):
    _, served = metric_server.serve(lambda row, answer: given)
    assert (await served.score({}, "")).reward == reward


@pytest.mark.parametrize("metric", [lambda row: 1, lambda row, answer, trace: 1, lambda *, row, answer: 1, lambda: 1])
def test_a_metric_that_cannot_be_called_is_refused_before_anything_is_sent(metric):
    with pytest.raises(ratchet.ConfigurationError, match="a row and an answer"):
        ratchet.evaluate([{"input": "a"}], "Add.", metric=metric, progress=False)


@pytest.mark.parametrize("metric", [max, lambda row, answer, trace=None: 1, lambda *given: 1])
def test_a_metric_that_can_be_called_is_taken(metric):
    check_metric(metric)
