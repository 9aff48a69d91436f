"""A stub of the official package with one iteration of its loop, for tests without a registry."""


class Result:
    def __init__(self, candidate, calls):
        self.best_candidate = candidate
        self.total_metric_calls = calls


def optimize(seed_candidate, trainset, valset, adapter, reflection_lm, reflection_minibatch_size, callbacks, **rest):
    assert rest["max_metric_calls"] > 0 and isinstance(rest["seed"], int) and isinstance(rest["use_merge"], bool)
    minibatch = trainset[:reflection_minibatch_size]
    base = adapter.evaluate(valset, seed_candidate)
    assert base.trajectories is None
    (callback,) = callbacks
    mean = lambda batch: sum(batch.scores) / len(batch.scores)
    callback.on_valset_evaluated({"candidate": seed_candidate, "average_score": mean(base)})
    traced = adapter.evaluate(minibatch, seed_candidate, capture_traces=True)
    component = next(iter(seed_candidate))
    (records,) = adapter.make_reflective_dataset(seed_candidate, traced, [component]).values()
    shown = "\n".join(f"# Example {i + 1}\n{record['Inputs']}\n## Feedback\n{record['Feedback']}" for i, record in enumerate(records))
    answer = reflection_lm(f"The instructions:\n```\n{seed_candidate[component]}\n```\n\n```\n{shown}\n```")
    text = answer[answer.find("```") + 3 : answer.rfind("```")].strip()
    candidate = {**seed_candidate, component: text}
    child = adapter.evaluate(valset, candidate)
    callback.on_valset_evaluated({"candidate": candidate, "average_score": mean(child)})
    return Result(candidate, 2 * len(valset) + len(minibatch))
