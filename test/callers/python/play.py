"""
Plays scenarios with one client. argv[1] is the module of the client beside this file. Standard input
is a list of lists of {"name", "does", "url", "key", "model", "question"}, played beside each other;
standard output a JSON object with what the client said to each scenario, by name. A deed that the
client lacks has no entry.
"""

import importlib
import json
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

# A client prints to standard output at times.
answers, sys.stdout = sys.stdout, sys.stderr
warnings.filterwarnings("ignore")


def told(error):
    """The classes, status and code of an error and of its causes, wherever the client keeps them."""
    causes = [error]
    while causes[-1].__cause__ or causes[-1].__context__:
        causes.append(causes[-1].__cause__ or causes[-1].__context__)
    names = [kind.__name__ for cause in causes for kind in type(cause).__mro__[:-3]]
    status = next(filter(None, (getattr(cause, "status_code", None) for cause in causes)), None)
    code = next(filter(None, map(code_of, causes)), None)
    return {"errors": list(dict.fromkeys(names)), "status": status, "code": code, "message": str(error)[:300]}


def code_of(error):
    body = getattr(error, "body", None)
    body = body if isinstance(body, dict) else {}
    code = getattr(error, "code", None) or body.get("code") or (body.get("error") or {}).get("code")
    return code if isinstance(code, str) and not code.isdigit() else None


def play(scenarios):
    said = {}
    for scenario in scenarios:
        caller = client.Caller(scenario["url"], scenario["key"], scenario["model"])
        deed = getattr(caller, scenario["does"], None)
        if deed is None:
            continue
        try:
            said[scenario["name"]] = deed(scenario["question"])
        except Exception as error:
            said[scenario["name"]] = told(error)
    return said


client = importlib.import_module(sys.argv[1])
with ThreadPoolExecutor() as pool:
    parts = list(pool.map(play, json.load(sys.stdin)))
json.dump({name: said for part in parts for name, said in part.items()}, answers)
