"""The seeds of a search by an adapter, within the limits of a session."""

import pytest

from ratchet_prompts.adapters._search import _split


class Notes:
    def __init__(self):
        self.lines = []

    def note(self, line):
        self.lines.append(line)


@pytest.mark.parametrize(
    ("train", "validation", "sizes", "notes"),
    [
        (5, None, (5, 5), 0),
        (1_000, None, (1_000, 1_000), 0),
        (1_500, None, (900, 600), 1),
        (5_000, None, (4_000, 1_000), 1),
        (12_000, None, (10_000, 1_000), 2),
        (1_500, 20, (1_500, 20), 0),
        (20, 1_500, (20, 1_000), 1),
    ],
)
def test_seeds_stay_within_the_limits(train, validation, sizes, notes):
    shown = Notes()
    seeds, evaluation = _split(train, validation, None, shown)
    assert (len(seeds), len(evaluation), len(shown.lines)) == (*sizes, notes)
    assert (seeds, evaluation) == _split(train, validation, None, Notes())
    if seeds != evaluation:
        assert not set(seeds) & set(evaluation)


@pytest.mark.parametrize(
    ("train", "validation", "budget", "sizes", "notes"),
    [
        (5, None, 200, (5, 5), 0),
        (90, None, 200, (90, 90), 0),
        (150, None, 200, (110, 40), 1),
        (1_500, None, 200, (1_460, 40), 1),
        (1_500, None, 5_000, (900, 600), 1),
        (1_500, 300, 200, (1_500, 40), 1),
        (1_500, 90, 200, (1_500, 90), 0),
        (6, None, 12, (3, 3), 1),
        (2, None, 4, (2, 2), 0),
    ],
)
def test_an_evaluation_leaves_budget_for_the_search(train, validation, budget, sizes, notes):
    shown = Notes()
    seeds, evaluation = _split(train, validation, budget, shown)
    assert (len(seeds), len(evaluation), len(shown.lines)) == (*sizes, notes)
