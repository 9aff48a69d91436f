"""Rows of real strings with exact right answers, from the test and training data of packages on PyPI.

extract.py TASK FOLDER: reads the unpacked source of the task's package in FOLDER, and writes the rows as JSON:
[{"input", "expected"}]. An input with two different answers is left out.
"""

import ast
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as tree
from decimal import Decimal


def constant(node):
    """The value of a literal, `Decimal("…")` included; Ellipsis: something else."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Decimal" and node.args:
        return constant(node.args[0])
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ...


def calls(node, name):
    return [call for call in ast.walk(node) if isinstance(call, ast.Call) and getattr(call.func, "id", "") == name]


def plain_number(value):
    text = format(Decimal(str(value)).normalize(), "f")
    return "0" if text == "-0" else text


def prices(folder):
    """price-parser (BSD-3-Clause): the price in a text of a shop; `none` without one."""
    module = ast.parse((folder / "tests/test_price_parsing.py").read_text("utf8"))
    for item in module.body:
        name = item.targets[0].id if isinstance(item, ast.Assign) else ""
        if not name.startswith("PRICE_PARSING_EXAMPLES") or "XFAIL" in name:
            continue
        for call in calls(item, "Example"):
            values = [constant(value) for value in call.args]
            if len(call.args) < 5 or ... in values[:5] or call.keywords or not values[1]:
                continue
            yield values[1], "none" if values[4] is None else plain_number(values[4])


def dates(folder):
    """dateparser (BSD-3-Clause): a day with its year, in many languages."""
    module = ast.parse((folder / "tests/test_date_parser.py").read_text("utf8"))
    wanted = {"test_dates_parsing", "test_dates_parsing_with_normalization"}
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef) or function.name not in wanted:
            continue
        for decorator in function.decorator_list:
            for call in calls(decorator, "param"):
                if len(call.args) != 2 or call.keywords or getattr(call.args[1], "func", None) is None:
                    continue
                text = constant(call.args[0])
                numbers = [constant(value) for value in call.args[1].args]
                if text is ... or ... in numbers or str(numbers[0]) not in text:
                    continue
                yield text, "{:04}-{:02}-{:02}".format(*numbers[:3])


def tagged(folder, pattern, element):
    for file in sorted(folder.glob(pattern)):
        for item in tree.parse(file).getroot().iter(element):
            yield " ".join("".join(item.itertext()).split()), [(part.tag, (part.text or "").strip()) for part in item]


def bare(words):
    return " ".join(words).strip(" ,;.")


def streets(folder):
    """usaddress (MIT): the name of the street, without number, direction and kind."""
    for text, parts in tagged(folder, "training/labeled.xml", "AddressString"):
        tags = [tag for tag, _ in parts]
        name = bare([word for tag, word in parts if tag == "StreetName"])
        if name and "StreetNamePostType" in tags and "AddressNumber" in tags and "SecondStreetName" not in tags:
            yield text, name


def surnames(folder):
    """probablepeople (MIT): the name of one person as in an index: `Surname, Given`."""
    for text, parts in tagged(folder, "name_data/labeled/person_labeled.xml", "Name"):
        tags = [tag for tag, _ in parts]
        surname = bare([word for tag, word in parts if tag == "Surname"])
        given = bare([word for tag, word in parts if tag == "GivenName"])
        if len(tags) < 3 or "And" in tags or "CorporationName" in tags or tags.count("GivenName") != 1:
            continue
        if surname and given:
            yield text, f"{surname}, {given}"


tasks = {"price": prices, "date": dates, "street": streets, "index-name": surnames}
name, folder = sys.argv[1:]
answers = {}
for text, expected in tasks[name](pathlib.Path(folder)):
    text = re.sub(r"\s+", " ", text).strip()
    answers.setdefault(text, set()).add(expected)
rows = [{"input": text, "expected": found.pop()} for text, found in answers.items() if len(found) == 1 and len(text) <= 120]
json.dump(rows, sys.stdout, ensure_ascii=False)
