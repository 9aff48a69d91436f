"""Stands in for the official package, so that the bench's adapter can be tried where no registry is: one iteration of its loop."""


class Result:
    def __init__(self, text, calls):
        self.best_candidate = {"instruction": text}
        self.total_metric_calls = calls


def optimize(seed_candidate, trainset, valset, adapter, reflection_lm, reflection_minibatch_size, callbacks, **rest):
    assert rest["max_metric_calls"] > 0 and isinstance(rest["seed"], int)
    minibatch = trainset[:reflection_minibatch_size]
    base = adapter.evaluate(valset, seed_candidate)
    assert base.trajectories is None
    (callback,) = callbacks
    mean = lambda batch: sum(batch.scores) / len(batch.scores)
    callback.on_valset_evaluated({"candidate": seed_candidate, "average_score": mean(base)})
    traced = adapter.evaluate(minibatch, seed_candidate, capture_traces=True)
    (records,) = adapter.make_reflective_dataset(seed_candidate, traced, ["instruction"]).values()
    shown = "\n".join(f"# Example {i + 1}\n## Feedback\n{record['Feedback']}" for i, record in enumerate(records))
    answer = reflection_lm(f"The instructions:\n```\n{seed_candidate['instruction']}\n```\n\n```\n{shown}\n```")
    text = answer[answer.find("```") + 3 : answer.rfind("```")].strip()
    child = adapter.evaluate(valset, {"instruction": text})
    callback.on_valset_evaluated({"candidate": {"instruction": text}, "average_score": mean(child)})
    return Result(text, 2 * len(valset) + len(minibatch))
