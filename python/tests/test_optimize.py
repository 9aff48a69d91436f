from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import threading
import uuid
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Dict, List, Tuple

import httpx
import pytest

import ratchet_prompts as ratchet
from ratchet_prompts._metric import metric_server
from ratchet_prompts._progress import Progress
from ratchet_prompts._prompts import messages_of, model_of, text_of

SAMPLE = Path(os.environ.get("RATCHET_SAMPLE") or Path(__file__).parents[2] / "examples/intents/data.jsonl")
LABELS = sorted({json.loads(line)["label"] for line in SAMPLE.read_text().splitlines()})[:5]
TASK = "Classify the message. Answer with exactly one of the labels, and nothing else."
PROMPT = f"{TASK}\n\nLabels: {', '.join(LABELS)}"


@pytest.fixture(scope="session")
def rows() -> List[Dict[str, Any]]:
    all_rows = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
    return [row for row in all_rows if row["label"] in LABELS][:100]


def score(row: Dict[str, Any], answer: str) -> Tuple[float, str]:
    if answer.strip() == row["label"]:
        return 1.0, f"Correct: `{row['label']}`."
    return 0.0, f'Wrong for "{row["text"]}". Expected `{row["label"]}`, answered `{answer}`.'


class Balanced(HTMLParser):
    """Fails on markup that is not closed, and collects tags and text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: List[str] = []
        self.tags: List[str] = []
        self.text = ""
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag: str, _: Any) -> None:
        self.tags.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, _: Any) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_optimize_finds_a_better_prompt_with_a_metric(rows, capsys):
    prompt = [{"role": "system", "content": PROMPT}, {"role": "user", "content": "{{text}}"}]
    threads = set()

    def metric(row: Dict[str, Any], answer: str) -> Tuple[float, str]:
        threads.add(threading.current_thread().name)
        return score(row, answer)

    best = ratchet.optimize(rows, prompt, metric=metric, budget=300, name="<b>mine</b>", rng_seed=1)
    assert (best.status, best.verdict, best.basis) == ("completed", "better", "heldout")
    assert best.reward is not None and best.baseline_reward is not None and best.reward > best.baseline_reward
    assert best.interval is not None and best.interval[0] > 0
    assert best.cost_usd == 0 and 0 < best.rollouts <= 300 and threads
    assert best.messages[0]["content"] == best.prompt != PROMPT and best.messages[1] == prompt[1]
    assert [entry["best_reward"] for entry in best.history] == sorted(entry["best_reward"] for entry in best.history)
    shown = capsys.readouterr().err
    assert f"Session {best.job_id}" in shown and "generation 1:" in shown and "held-out rows" in shown
    assert repr(best).startswith(f"Optimization {best.job_id}: Better on held-out rows")

    frame = best.to_dataframe()
    assert best.split is not None and list(frame["row"]) == best.split["heldout"]
    assert frame["reward"].mean() == pytest.approx(best.reward)
    assert frame["baseline_reward"].mean() == pytest.approx(best.baseline_reward)
    assert list(frame["text"]) == [rows[row]["text"] for row in frame["row"]]

    page = Balanced(best._repr_html_())
    assert {"svg", "polyline", "table", "pre"} <= set(page.tags) and "script" not in page.tags
    assert page.tags.count("circle") == len(best.history)

    deployment = best.deploy("python-optimized")
    assert deployment.get()["live"] is True
    asked = [{"role": "user", "content": "Message: My card was declined"}]
    assert deployment.chat(asked)["choices"][0]["message"]["content"] in LABELS

    again = ratchet.evaluate(rows, best.messages, metric=metric, progress=False)
    first = ratchet.evaluate(rows, prompt, metric=metric, progress=False)
    compared = best.client.compare(first.job_id, again.job_id)
    assert compared["verdict"] == "better"


def test_optimize_with_a_scorer_a_frame_and_a_text(rows, capsys):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows)[["text", "label"]]
    best = ratchet.optimize(
        frame,
        PROMPT + "\n\nMessage: {{text}}",
        metric="exact",
        expected="label",
        budget=150,
        algorithm="mipro",
        progress=False,
        tags=["mipro"],
    )
    assert capsys.readouterr().err == ""
    assert best.status == "completed" and "{{text}}" in best.prompt
    assert best.session.get()["algorithm"] == "mipro"


def test_evaluate_scores_every_row(rows, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows[:20]))

    async def metric(row: Dict[str, Any], answer: str) -> float:
        await asyncio.sleep(0)
        return score(row, answer)[0]

    found = ratchet.evaluate(path, PROMPT, input="text", metric=metric, max_cost_usd=1)
    assert (found.succeeded, found.failed) == (20, 0)
    assert found.client.evaluations.handle(found.job_id).get()["budget"]["max_cost_usd"] == 1
    frame = found.to_dataframe()
    assert frame["reward"].mean() == pytest.approx(found.reward)
    assert list(frame["text"]) == [row["text"] for row in rows[:20]]
    assert f"mean reward {found.reward:.3f} (unseen rows: " in repr(found)
    assert " on 20 rows" in repr(found)
    Balanced(found._repr_html_())


def test_a_metric_gets_the_whole_row():
    rows = [{"input": f"{n} + 1", "expected": n + 1, "more": "m"} for n in range(3)]
    seen: List[Dict[str, Any]] = []

    def metric(row: Dict[str, Any], answer: str) -> float:
        seen.append(row)
        return float(str(row["expected"]) == answer.strip())

    assert ratchet.evaluate(rows, "Add.", metric=metric, expected="expected", progress=False).succeeded == 3
    assert sorted(seen, key=lambda row: row["input"]) == rows


def test_a_metric_that_raises_fails_the_job_and_is_its_cause(rows):
    def broken(row: Dict[str, Any], answer: str) -> float:
        raise ZeroDivisionError("in the metric")

    with pytest.raises(ratchet.JobFailed) as failed:
        ratchet.evaluate(rows[:20], PROMPT, input="text", metric=broken, progress=False)
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    with pytest.raises(ratchet.JobFailed) as failed:
        ratchet.evaluate(rows[:20], PROMPT, input="text", metric=lambda row, answer: 7, progress=False)
    assert isinstance(failed.value.__cause__, ValueError)


def test_rows_on_which_a_metric_raises_are_failed_rows(rows):
    def picky(row: Dict[str, Any], answer: str) -> float:
        if row is not rows[0] and row["text"] == rows[0]["text"]:
            raise LookupError("the first")
        return 1

    found = ratchet.evaluate(rows[:20], PROMPT, input="text", metric=picky, progress=False)
    assert (found.succeeded, found.failed) == (19, 1)
    assert found.warnings == ["the metric raised 1 times, first LookupError: the first"]


@pytest.mark.parametrize("metric", [score, "exact"])
def test_an_interrupted_search_is_cancelled_and_named(metric, rows, client, monkeypatch, capsys):
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "event", interrupted)
    name = f"interrupted {uuid.uuid4()}"
    with pytest.raises(KeyboardInterrupt):
        ratchet.optimize(rows, PROMPT, input="text", expected="label", metric=metric, name=name)
    (job,) = client.sessions.list(name=name)
    assert client.sessions.handle(job["job_id"]).wait(timeout=60)["status"] == "cancelled"
    assert f"Cancelled {job['job_id']}" in capsys.readouterr().err


@dataclasses.dataclass
class Longer:
    """A metric that is an object without a hash."""

    than: int

    async def __call__(self, row: Dict[str, Any], answer: str) -> float:
        return float(len(answer) > self.than)


def test_a_metric_may_be_an_object():
    url, served = metric_server.serve(Longer(2))
    found = httpx.post(url, json={"row": {}, "output": "yes"})
    assert found.json()["reward"] == 1
    same, _ = metric_server.serve(served.function)
    other, _ = metric_server.serve(Longer(2))
    assert (same == url, other == url) == (True, False)


def test_the_metric_server_answers_the_service_only(rows):
    url, served = metric_server.serve(score)
    assert metric_server.serve(score)[0] == url
    sent = {"output": "cash_ops", "row": {"text": "t", "label": "cash_ops"}, "expected": None}
    assert httpx.post(url, json=sent).json()["reward"] == 1
    assert httpx.post(url, json=sent, headers={"host": "evil.example"}).status_code == 421
    assert httpx.post(url, content=json.dumps(sent)).status_code == 415
    assert httpx.post(url.rsplit("/", 1)[0] + "/guess", json=sent).status_code == 404
    assert httpx.post(url, json={"output": "x"}).status_code == 422
    assert served.errors == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"prompt": ""},
        {"prompt": []},
        {"prompt": [{"role": "system"}]},
        {"metric": 3},
        {"model": ""},
        {"algorithm": "gradient"},
        {"data": "rows.xml"},
        {"data": {"a": 1}},
    ],
)
def test_wrong_arguments_are_named_before_anything_is_sent(client, rows, arguments):
    given = {"data": rows, "prompt": PROMPT, "progress": False, "client": client, **arguments}
    with pytest.raises(ratchet.ConfigurationError):
        ratchet.optimize(**given)


def test_a_metric_needs_a_service_on_this_machine():
    with ratchet.Client("https://ratchet.example.com", "key") as remote, pytest.raises(ratchet.ConfigurationError):
        ratchet.optimize([{"input": "a"}], PROMPT, metric=score, client=remote, progress=False)


def test_html_of_a_hostile_prompt_is_text():
    from ratchet_prompts.results import Optimization

    hostile = "<script>alert(1)</script>\n</pre><img src=x onerror=y>"
    result = Optimization(
        job_id="ses_1",
        status=hostile,
        messages=[{"role": "system", "content": hostile}],
        baseline_messages=[{"role": "system", "content": "x"}],
        verdict=hostile,
        reward=1.0,
        baseline_reward=None,
        interval=(-1.7976931348623157e308, 1.7976931348623157e308),
        basis=hostile,
        cost_usd=None,
        rollouts=1,
        history=[{"generation": 0, "best_reward": -0.5}],
        stopped_by=hostile,
        warnings=[hostile],
    )
    page = Balanced(result._repr_html_())
    assert not {"script", "img"} & set(page.tags)
    assert page.text.count(hostile.splitlines()[0]) >= 5 and "-∞ to +∞" in page.text
    assert "∞" in repr(result) and "cost unknown" in repr(result)


def test_prompts_and_models_are_read_as_the_command_line_does():
    assert messages_of("Hi {{ a b }}")[0]["role"] == "user"
    assert messages_of("Hi {{ }} {a}")[0]["role"] == "system"
    assert messages_of({"messages": [{"role": "user", "content": "x"}]}) == [{"role": "user", "content": "x"}]
    assert model_of("a/b/c") == {"provider": "a", "model": "b/c"}
    assert model_of("local") == {"provider": "local", "model": "local"}
    assert text_of([{"role": "system", "content": "x"}, {"role": "user", "content": " {{a}} "}]) == "x"
