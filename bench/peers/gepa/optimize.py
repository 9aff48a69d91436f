"""Runs the official gepa package in a world, with its defaults for unset options of the job.

Reads the job as JSON from standard input: container_url, proposer_url, model, train_seeds, evaluation_seeds,
minibatch_size, max_rollouts, max_concurrent, rng_seed, baseline (component to text), use_merge; without a container:
task_model, inputs (seed to text), score_url. Writes JSON lines:
"candidate" after each full evaluation (time in epoch milliseconds, texts, validation score, rollouts and proposals so far),
then "end". The clock starts when gepa does, not when Python does.
"""

import http.client
import itertools
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import gepa
from gepa.core.adapter import EvaluationBatch

job = json.load(sys.stdin)
ids = itertools.count()
local = threading.local()


def say(kind, **fields):
    print(json.dumps({"kind": kind, "at": time.time() * 1000, **fields}), flush=True)


def post(url, body):
    """A POST over the thread's own connection."""
    parts = urlsplit(url)
    connections = local.__dict__.setdefault("connections", {})
    if parts.netloc not in connections:
        connections[parts.netloc] = http.client.HTTPConnection(parts.netloc)
    connection = connections[parts.netloc]
    connection.request("POST", parts.path, json.dumps(body), {"content-type": "application/json"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    if response.status != 200:
        raise RuntimeError(f"{url}: {response.status} {answer}")
    return answer


def chat(model, messages):
    answer = post(job["proposer_url"] + "/chat/completions", {"model": model, "messages": messages})
    return answer["choices"][0]["message"]["content"]


proposals = 0


def propose(prompt):
    global proposals
    proposals += 1
    return chat(job["model"], [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt)


def called(seed, texts):
    """Calls the task model with the texts and scores its answer."""
    messages = [{"role": "system", "content": text} for text in texts.values()]
    shown = job["inputs"][str(seed)]
    answer = chat(job["task_model"], messages + [{"role": "user", "content": shown}])
    scored = post(job["score_url"], {"seed": seed, "answer": answer})
    return scored["reward"], scored["feedback"], shown, answer


def rollout(seed, texts):
    sections = [
        {"role": "system", "content": text, "order": order, "name": name}
        for order, (name, text) in enumerate(texts.items())
    ]
    body = {
        "rollout_id": f"gepa-{next(ids)}",
        "env": {"seed": seed},
        "policy": {"config": {"model": job["model"], "prompt_template": {"sections": sections}}},
    }
    info = post(job["container_url"] + "/rollout", body)["reward_info"]
    return info["outcome_reward"], info["details"]["feedback"], f"seed {seed}", ""


class Adapter:
    propose_new_texts = None

    def __init__(self, pool):
        self.pool = pool
        self.rollouts = 0

    def evaluate(self, batch, candidate, capture_traces=False):
        run = called if "task_model" in job else rollout
        results = list(self.pool.map(lambda seed: run(seed, candidate), batch))
        self.rollouts += len(results)
        return EvaluationBatch(
            outputs=["" for _ in results],
            scores=[reward for reward, *_ in results],
            trajectories=results if capture_traces else None,
        )

    def make_reflective_dataset(self, candidate, eval_batch, components_to_update):
        records = [
            {"Inputs": shown, "Generated Outputs": answer, "Feedback": feedback, "Reward": reward}
            for reward, feedback, shown, answer in eval_batch.trajectories
        ]
        return {component: records for component in components_to_update}


class Candidates:
    def __init__(self, adapter):
        self.adapter = adapter

    def on_valset_evaluated(self, event):
        score = event["average_score"]
        rollouts = self.adapter.rollouts
        say("candidate", texts=event["candidate"], reward=score, rollouts=rollouts, proposals=proposals)


class Silent:
    def log(self, message):
        pass


with ThreadPoolExecutor(job["max_concurrent"]) as pool:
    adapter = Adapter(pool)
    say("start")
    result = gepa.optimize(
        seed_candidate=job["baseline"],
        trainset=job["train_seeds"],
        valset=job["evaluation_seeds"],
        adapter=adapter,
        reflection_lm=propose,
        reflection_minibatch_size=job["minibatch_size"],
        max_metric_calls=job["max_rollouts"],
        seed=job["rng_seed"],
        logger=Silent(),
        callbacks=[Candidates(adapter)],
        use_merge=job["use_merge"],
    )
    say("end", texts=result.best_candidate, rollouts=result.total_metric_calls)
