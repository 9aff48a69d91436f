"""Rows of reasoning-gym (Apache-2.0), each verified by the task's own scorer: generate.py DATASET OPTIONS SIZE."""

import json
import sys

import reasoning_gym

name, options, size = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
rows = {}
dataset = reasoning_gym.create_dataset(name, size=size, seed=1, **options)
for item in dataset:
    if dataset.score_answer(item["answer"], item) != 1:
        raise SystemExit(f"{name}: its scorer refuses its own answer {item['answer']!r}")
    rows[item["question"].strip()] = item["answer"]
json.dump([{"input": text, "expected": answer} for text, answer in rows.items()], sys.stdout, ensure_ascii=False)
