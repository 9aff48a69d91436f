"""Runs an optimizer of DSPy in a world with a task model, with its defaults for unset options of the job.

Reads the job as JSON from standard input: container_url, models_url, task_model, proposer, baseline, train_seeds,
evaluation_seeds, optimizer (its name, and options of its constructor), labels, max_bootstrapped_demos,
max_labeled_demos, rng_seed, plain (the task model gets instruction, demonstrations and input as plain messages).
Writes JSON lines: "evaluated" after each evaluation of a program by MIPROv2 on all evaluation seeds (instruction,
demos, score, calls of the task model so far), then "end" with the program that the optimizer returns.

The world counts the calls. DSPy's memory cache stays on, its default, so it does not count cached answers; the
disk cache is off.
"""

import contextlib
import functools
import json
import logging
import os
import sys
import urllib.request

# Ignore the shell's settings for other servers.
for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
    os.environ.pop(name, None)

import dspy
from dspy.clients import costs
from dspy.teleprompt import mipro_optimizer_v2

job = json.load(sys.stdin)
output = sys.stdout


def say(kind, **fields):
    print(json.dumps({"kind": kind, **fields}), file=output, flush=True)


def ask(route, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(f"{job['container_url']}/{route}", data) as response:
        return json.load(response)


def model(name):
    return dspy.LM(f"openai/{name}", api_base=job["models_url"], api_key="none", model_type="chat")


def fields_of(program):
    predictor = program.predictors()[0]
    demos = [{"input": demo["message"], "output": demo["answer"]} for demo in predictor.demos]
    return {"instruction": predictor.signature.instructions, "demos": demos}


@functools.cache
def score(seed, answer):
    return ask("score", {"seed": seed, "answer": answer})["reward"]


def metric(example, prediction, trace=None):
    reward = score(example.seed, prediction.answer)
    # As advised by DSPy: with a trace the answer may become a demonstration and must be right.
    return reward if trace is None else reward >= 1


def example_of(instance):
    fields = {"message": instance["input"], "seed": instance["seed"]}
    if job["labels"]:
        fields["answer"] = instance["expected"]
    return dspy.Example(**fields).with_inputs("message")


evaluate_program = mipro_optimizer_v2.eval_candidate_program


def eval_candidate_program(batch_size, trainset, candidate_program, *args, **kwargs):
    """MIPROv2's function, which also reports fully evaluated programs."""
    result = evaluate_program(batch_size, trainset, candidate_program, *args, **kwargs)
    if batch_size >= len(trainset):
        say("evaluated", score=result.score / 100, calls=ask("calls")["calls"], **fields_of(candidate_program))
    return result


mipro_optimizer_v2.eval_candidate_program = eval_candidate_program
# These models have no price; looking it up after each call would take a third of the time.
costs.model_info = lambda *args, **kwargs: {}


class PlainAdapter(dspy.ChatAdapter):
    """The task's messages without a frame, for a base model; other signatures keep ChatAdapter's."""

    def format(self, signature, demos, inputs):
        if "answer" not in signature.output_fields:
            return super().format(signature, demos, inputs)
        turns = [{"role": "system", "content": signature.instructions}]
        for demo in demos:
            turns.append({"role": "user", "content": demo["message"]})
            turns.append({"role": "assistant", "content": demo["answer"]})
        return [*turns, {"role": "user", "content": inputs["message"]}]

    def parse(self, signature, completion):
        if "answer" not in signature.output_fields:
            return super().parse(signature, completion)
        return {"answer": completion}


def optimized(program, trainset, valset):
    """The program of the optimizer; each has its own way to get the options that all share."""
    name, options = job["optimizer"]["name"], job["optimizer"]["options"]
    demos = {key: job[key] for key in ("max_bootstrapped_demos", "max_labeled_demos")}
    if name == "BootstrapFewShot":
        return dspy.BootstrapFewShot(metric=metric, **demos, **options).compile(program, trainset=trainset)
    if name == "BootstrapFewShotWithRandomSearch":
        search = dspy.BootstrapFewShotWithRandomSearch(metric=metric, num_threads=1, **demos, **options)
        return search.compile(program, trainset=trainset, valset=valset)
    compiling = options.pop("compile", {})
    optimizer = dspy.MIPROv2(
        metric=metric,
        prompt_model=model(job["proposer"]),
        task_model=task_model,
        num_threads=1,
        seed=job["rng_seed"],
        **demos,
        **options,
    )
    return optimizer.compile(program, trainset=trainset, valset=valset, **compiling)


with contextlib.redirect_stdout(sys.stderr):
    logging.getLogger("dspy").setLevel(logging.WARNING)
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=True)
    task_model = model(job["task_model"])
    dspy.configure(lm=task_model, **({"adapter": PlainAdapter()} if job["plain"] else {}))
    examples = {instance["seed"]: example_of(instance) for instance in ask("inputs")}
    best = optimized(
        dspy.Predict(dspy.Signature("message -> answer", job["baseline"])),
        trainset=[examples[seed] for seed in job["train_seeds"]],
        valset=[examples[seed] for seed in job["evaluation_seeds"]],
    )
    say("end", calls=ask("calls")["calls"], **fields_of(best))
