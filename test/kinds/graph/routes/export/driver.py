"""Runs cases through run.py, one process for all: a line of JSON each in, a line of JSON each out. Argument: the path of run.py."""

import importlib.util
import json
import sys
import threading
import types
import unicodedata

sys.dont_write_bytecode = True  # beside run.py the build would copy it
spec = importlib.util.spec_from_file_location("run", sys.argv[1])
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)


def outcome(graph, task_input, complete):
    try:
        return {"value": run.to_json(run.run_graph(graph, task_input, complete))}
    except run.Failed as failure:
        return {"failed": {"step": failure.step, "reason": failure.reason}}


def run_case(case):
    """The outcome of a graph, and what it asked; answers: for each key of a call the texts answered, the last one again and again."""
    calls, lock = {}, threading.Lock()

    def complete(call):
        with lock:
            asked = calls.setdefault(call.key, {"tried": 0})
            asked["tried"] += 1
            asked.update(step=call.step, model=call.model, timeoutS=call.timeout_s, tries=call.tries, messages=call.messages)
        answers = case["answers"].get(call.key, [case["otherwise"]])
        text = answers[min(asked["tried"], len(answers)) - 1]
        if text is None:
            raise run.NoAnswer("the line is dead")
        return text

    task_input = run.parse_json(case["input"])
    ended = outcome(run.parse_json(case["graph"]), task_input, complete)
    with lock:  # where the run has failed, others may still be asked
        return {**ended, "calls": {key: dict(call) for key, call in calls.items()}}


completers = {}


def run_over_http(case):
    url = case["url"]
    if url not in completers:
        completers[url] = run.openai_completer(url, None)
    complete = completers[url]
    return outcome(run.parse_json(case["graph"]), run.parse_json(case["input"]), complete)


def wrong_characters(case):
    """Characters which Python takes otherwise than told: their lower and upper case, and whether they are white space."""
    wrong = []
    for code in range(0x110000):
        char = chr(code)
        told = case["changed"].get(char, [char, char])
        own = [char.lower(), char.upper()]
        is_known = "Cn" not in map(unicodedata.category, char + "".join(told))
        if is_known and (told != own or (run.trim(char) == "") != (char in case["white"])):
            wrong.append([char, told, own])
    return wrong


def readings(case):
    """How each text is read, with values as JSON."""

    def last(text, accepts):
        return next(map(run.to_json, run.json_in(text, accepts)), None)

    return [
        {
            "answer": run.without_thoughts(text),
            "json": last(text, lambda value: True),
            "object": last(text, lambda value: isinstance(value, dict)),
            "numbers": run.to_json(run.numbers_in(text)),
            "number": run.to_json(run.whole_number(text)),
        }
        for text in case["texts"]
    ]


def content_text(case):
    message = types.SimpleNamespace(content=case["content"])
    return run.answer_text(types.SimpleNamespace(choices=[types.SimpleNamespace(message=message)]))


kinds = {
    "run": run_case,
    "http": run_over_http,
    "characters": wrong_characters,
    "texts": readings,
    "passing": lambda case: [run.may_pass(status, case["advice"]) for status in case["statuses"]],
    "content": content_text,
}
for line in sys.stdin.buffer:
    case = json.loads(line)
    try:
        answer = kinds[case["kind"]](case)
    except Exception as error:
        answer = {"crashed": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
