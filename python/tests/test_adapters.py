"""The real packages gepa and dspy. A question "rule k" needs `rule-k.` in the prompt."""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, List

import pytest
from support.model import FakeModel

import ratchet_prompts as ratchet
from ratchet_prompts.adapters import dspy as ratchet_dspy
from ratchet_prompts.adapters import gepa as ratchet_gepa

gepa_adapter = pytest.importorskip("gepa.adapters.default_adapter.default_adapter")
dspy = pytest.importorskip("dspy")

RULES = 4
PROVIDER = os.environ.get("RATCHET_TEST_PROVIDER")
pytestmark = pytest.mark.skipif(PROVIDER is None, reason="the service has no provider `fake`")
PROPOSER = {"provider": "fake", "model": "proposer"}


def questions(count: int) -> List[Dict[str, Any]]:
    return [
        {"input": f"Row {row}: rule {row % RULES}", "answer": f"needs rule-{row % RULES}.", "additional_context": {}}
        for row in range(count)
    ]


def answer(system: str, question: str) -> str:
    rule = question.split("rule ")[1]
    return f"needs rule-{rule}." if f"rule-{rule}." in system else "No rule."


def test_a_gepa_adapter_runs_as_a_session(client):
    sizes, at_once = [], threading.Lock()

    class Adapter(gepa_adapter.DefaultAdapter):
        def evaluate(self, batch, candidate, capture_traces=False):
            assert at_once.acquire(blocking=False), "two calls at a time"
            try:
                sizes.append(len(batch))
                return super().evaluate(batch, candidate, capture_traces)
            finally:
                at_once.release()

    def ask(messages):
        # Long enough for other rollouts to arrive.
        threading.Event().wait(0.01)
        return answer(messages[0]["content"], messages[1]["content"])

    adapter = Adapter(ask)
    result = ratchet_gepa.optimize(
        {"system prompt": "Answer well."},
        questions(12),
        questions(8),
        adapter,
        reflection_lm=PROPOSER,
        max_metric_calls=150,
        max_failure_rate=0,
        progress=False,
        preflight=False,
    )
    assert all(f"rule-{rule}." in result.best_candidate["system prompt"] for rule in range(RULES))
    assert result.best_score == 1 == max(result.val_aggregate_scores)
    assert result.candidates[result.best_idx] == result.best_candidate
    assert result.candidates[0] == {"system prompt": "Answer well."} and result.parents[0] == []
    assert sum(sizes) >= result.total_metric_calls and max(sizes) > 1
    session = client.sessions.handle(result.job_id)
    evals = list(session.seed_evals(session.get()["candidates"][0]["candidate_id"]))
    assert any("'needs rule-1.'" in each["feedback"] for each in evals)


def test_components_of_a_gepa_candidate_are_optimized_together():
    class Adapter:
        def evaluate(self, batch, candidate, capture_traces=False):
            assert set(candidate) == {"plan.step", "answer"}
            needed = [("plan.step" if row % 2 else "answer", f"rule-{row}.") for row in batch]
            scores = [float(rule in candidate[part]) for part, rule in needed]
            return gepa_adapter.EvaluationBatch(outputs=needed, scores=scores, trajectories=needed)

        def make_reflective_dataset(self, candidate, eval_batch, components_to_update):
            (name,) = components_to_update
            ((part, rule),) = eval_batch.trajectories
            sent = "plan_step" if part == "plan.step" else part
            return {name: [{"Feedback": f"the {sent} needs {rule}"}] if part == name else []}

    result = ratchet_gepa.optimize(
        {"plan.step": "Plan.", "answer": "Answer."},
        [0, 1, 2, 3],
        adapter=Adapter(),
        reflection_lm=PROPOSER,
        max_metric_calls=150,
        progress=False,
        preflight=False,
    )
    assert result.best_score == 1
    assert {"rule-1.", "rule-3."} <= set(result.best_candidate["plan.step"].split())
    assert {"rule-0.", "rule-2."} <= set(result.best_candidate["answer"].split())


def test_what_is_no_gepa_candidate_is_named(client):
    for candidate in ({}, {"a": ""}, {str(number): "x" for number in range(21)}):
        with pytest.raises(ratchet.ConfigurationError):
            ratchet_gepa.optimize(candidate, [1], adapter=Failing(), client=client)
    with pytest.raises(ratchet.ConfigurationError):
        ratchet_gepa.optimize({"a": "b"}, [], adapter=Failing(), client=client)
    with pytest.raises(ratchet.ConfigurationError):
        ratchet_gepa.optimize({"a": "b"}, [1], client=client)


@pytest.mark.parametrize("status, retried", [(429, 503), (503, 503), (500, 502), (400, None), (None, 502)])
def test_a_failed_model_call_of_dspy_is_retried_by_the_service(status, retried):
    with FakeModel(lambda _: status) as model:
        lm = dspy.LM("openai/m", api_base=model.url, api_key="k", cache=False, num_retries=0)
        with dspy.context(lm=lm), pytest.raises(Exception) as raised:
            dspy.Predict("question -> answer")(question="?")
    error = ratchet_dspy._model_error(raised.value)
    assert isinstance(error, ratchet.ModelError) and error.retry_status == retried


class Failing:
    def evaluate(self, batch, candidate, capture_traces=False):
        raise LookupError("no model")


def test_an_adapter_that_raises_fails_the_session(client):
    with pytest.raises(ratchet.JobFailed, match="no model"):
        ratchet_gepa.optimize(
            {"a": "b"}, [1, 2], adapter=Failing(), reflection_lm="local", max_metric_calls=20, progress=False
        )


def test_a_dspy_program_runs_as_a_session(client):
    class Program(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.respond = dspy.Predict(dspy.Signature("question -> answer", "Answer well."))

        def forward(self, question: str) -> Any:
            return self.respond(question=question)

    def metric(example, prediction, trace=None, pred_name=None, pred_trace=None):
        assert len(trace) == 1
        is_right = prediction.answer == example.answer
        return dspy.Prediction(score=float(is_right), feedback="Right." if is_right else example.answer)

    examples = [
        dspy.Example(question=each["input"], answer=each["answer"]).with_inputs("question") for each in questions(20)
    ]
    garbled = dspy.Example(question="garbled", answer="?").with_inputs("question")
    program = Program()
    better = ratchet_dspy.optimize(
        program,
        [*examples[:12], garbled],
        metric,
        valset=examples[12:],
        model={"provider": "fake", "model": "policy", "temperature": 0.5},
        proposer=PROPOSER,
        budget=150,
        max_failure_rate=0,
        progress=False,
        preflight=False,
    )
    assert program.respond.signature.instructions == "Answer well."
    instructions = better.respond.signature.instructions
    assert all(f"rule-{rule}." in instructions for rule in range(RULES)) and "<lever" not in instructions
    session = client.sessions.handle(better.ratchet_job_id)
    assert session.results()["best_reward"] == 1
    best = session.results()["best_candidate"]["candidate_id"]
    call = session.trace(next(session.seed_evals(best))["rollout_id"])["calls"][0]
    assert call["request"]["temperature"] == 0.5
    sent = call["request"]["messages"][0]["content"]
    assert "<lever" not in sent and "[[ ## answer ## ]]" in sent
