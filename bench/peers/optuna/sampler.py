"""Optuna's TPE sampler, controlled over standard input and output.

Each line of input is JSON: `space` (number of choices per dimension) and `seed` start a study; `values` are those of the
combinations of the last answer, in its order (greater is better); `count` is the number of combinations to suggest
without values in between. Each line of output is the list of combinations.
"""

import json
import sys
import warnings

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
# Experimental options of some versions warn in each study.
warnings.simplefilter("ignore")

study, space, running = None, {}, []
for line in sys.stdin:
    job = json.loads(line)
    if "space" in job:
        sampler = optuna.samplers.TPESampler(
            seed=job["seed"], multivariate=True, constant_liar=True, n_startup_trials=10, n_ei_candidates=24
        )
        study = optuna.create_study(direction="maximize", sampler=sampler)
        space = {
            f"d{at}": optuna.distributions.CategoricalDistribution(list(range(size)))
            for at, size in enumerate(job["space"])
        }
        running = []
    for trial, value in zip(running, job["values"]):
        study.tell(trial, value)
    running = [study.ask(space) for _ in range(job["count"])]
    print(json.dumps([[trial.params[name] for name in space] for trial in running]), flush=True)
