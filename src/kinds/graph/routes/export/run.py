#!/usr/bin/env python3
"""Runs the graph in graph.json, next to this file, on one input and prints its output as JSON.

    python run.py input.json               the input is a JSON object with the graph's input fields
    python run.py - < input.json           the same from standard input
    python run.py --text "How far is it?"  for a graph with one input field

Requires Python 3.9 or later and the openai package. Set OPENAI_API_KEY and, for another server, OPENAI_BASE_URL or
--base-url. --model uses one model for all steps. Exit status: 0 success, 1 the run failed (standard error names the
step and the reason), 2 wrong usage.

From Python: run_graph(load("graph.json"), {...}, openai_completer()).

Texts, numbers and JSON follow ECMAScript, so that a graph behaves as in the search that found it: sizes count UTF-16
units, white space is that of String.prototype.trim, and JSON is formatted as by JSON.stringify.
"""

import argparse
import bisect
import json
import math
import os
import queue
import re
import sys
import threading
import time
import unicodedata
from collections import namedtuple
from decimal import Decimal

MAX_SIZE, MAX_DEPTH, MAX_ANSWER, MAX_MESSAGES, MAX_RUN = 1_000_000, 50, 500_000, 400_000, 4_000_000
TIMEOUT_S, TRIES, MAP_ITEMS = 120, 3, 20  # defaults of a step
MAX_CONCURRENT = 8  # limit of concurrent calls
RETRY_WAITS_S = (0.5, 1, None)  # seconds before a retry of a failed call; None: no retry

WHITE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
PLACEHOLDER = re.compile(r"\{\{[" + WHITE + r"]*([A-Za-z][A-Za-z0-9_]*)[" + WHITE + r"]*\}\}")


class Failed(Exception):
    """The run failed at `step`; None: the input or output of the graph is invalid."""

    def __init__(self, reason, step=None):
        super().__init__(reason)
        self.reason = reason
        self.step = step


class RunFailed(Failed):
    """The run failed as a whole, not at a step."""


class Unusable(Exception):
    """An invalid answer; the model is called again."""


class NoAnswer(Exception):
    """A call without an answer."""


# ---------------------------------------------------------------- values: None, bool, float, str, list, dict


def parse_json(text):
    """The value of a JSON text, or ValueError. All numbers are floats, as in ECMAScript."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_int=float, parse_float=float, parse_constant=refuse, object_pairs_hook=in_order)


def in_order(pairs):
    """An object with its names in ECMAScript's order: array indexes ascending, then the others unchanged."""
    value = dict(pairs)
    numbers = [name for name in value if re.fullmatch("0|[1-9][0-9]{0,9}", name) and int(name) < 2**32 - 1]
    return {**{name: value[name] for name in sorted(numbers, key=int)}, **value}


def to_json(value, change_text=str, order=list):
    """The value as compact JSON, with optional changes of its texts and of the order of names."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return quoted(change_text(value))
    if isinstance(value, (int, float)):
        return number_text(value) if math.isfinite(value) else "null"
    if isinstance(value, list):
        return "[" + ",".join(to_json(item, change_text, order) for item in value) + "]"
    fields = (f"{quoted(name)}:{to_json(value[name], change_text, order)}" for name in order(value))
    return "{" + ",".join(fields) + "}"


def quoted(text):
    lone = r"[\ud800-\udfff]"
    return re.sub(lone, lambda half: f"\\u{ord(half[0]):04x}", json.dumps(text, ensure_ascii=False))


def number_text(number):
    """A number in the format of ECMAScript: 1 (not 1.0), 0.000001 and 1e-7, 100000000000000000000 and 1e+21."""
    if not math.isfinite(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "0"
    _, digits, exponent = Decimal(repr(float(number))).normalize().as_tuple()
    digits = "".join(map(str, digits))
    point = len(digits) + exponent  # number of digits before the point
    if not -6 < point <= 21:
        text = digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{point - 1:+d}"
    elif point <= 0:
        text = "0." + "0" * -point + digits
    else:
        whole, part = digits[:point].ljust(point, "0"), digits[point:]
        text = f"{whole}.{part}" if part else whole
    return f"-{text}" if number < 0 else text


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def text_of(value):
    """A value in a message: a text unchanged, anything else as JSON."""
    return value if isinstance(value, str) else to_json(value)


def joined(texts, by=""):
    """Joins texts; surrogate halves that meet form their character."""
    text = by.join(texts)
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def units(text):
    """The length of a text in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def trim(text):
    return text.strip(WHITE)


def normal_text(text):
    """Text for comparison: trimmed, white space collapsed, in lower case."""
    return re.sub(f"[{WHITE}]+", " ", trim(text)).lower()


def exact_key(value):
    """Comparison key of a value, independent of the order of names."""
    return to_json(value, order=sorted)


def key_of(value):
    """Like exact_key, with texts compared by normal_text. Used by votes and conditions."""
    return to_json(value, normal_text, sorted)


def size_problem(value):
    """Why a value is too large, or None."""
    left = MAX_SIZE

    def problem_of(item, depth):
        nonlocal left
        left -= 1 + (units(item) if isinstance(item, str) else 0)
        if left < 0:
            return f"is larger than {MAX_SIZE} characters"
        if not isinstance(item, (list, dict)):
            return None
        if depth == MAX_DEPTH:
            return f"is nested deeper than {MAX_DEPTH} levels"
        if isinstance(item, dict):
            left -= sum(units(name) for name in item)
        children = item.values() if isinstance(item, dict) else item
        return next(filter(None, (problem_of(child, depth + 1) for child in children)), None)

    return problem_of(value, 0)


def describe(value):
    """A short description of a value for messages."""
    if value is None or isinstance(value, bool):
        return to_json(value)
    if isinstance(value, str):
        return f"the text {quoted(cut(value, 60))}" if value else "an empty text"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object with {', '.join(list(value)[:5]) or 'nothing in it'}"
    return f"the number {number_text(value)}"


def cut(text, limit):
    if units(text) <= limit:
        return text
    start = text.encode("utf-16-le", "surrogatepass")[: 2 * limit].decode("utf-16-le", "surrogatepass")
    return re.sub(r"[\ud800-\udbff]\Z", "", start) + " […]"


def value_at(value, path, ref):
    """The value at a path of names; ref is its name in messages."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            raise Failed(f'{ref}: there is no "{name}" in {describe(value)}')
        value = value[name]
    return value


def render(text, value_of, limit):
    """The text with values for its {{placeholders}}, inserted without expansion; None: longer than limit."""
    parts, length, texts = PLACEHOLDER.split(text), 0, {}
    for index, part in enumerate(parts):
        if index % 2 == 1:
            if part not in texts:
                texts[part] = text_of(value_of(part))
            parts[index] = texts[part]
        length += units(parts[index])
        if length > limit:
            return None
    return joined(parts)


# ---------------------------------------------------------------- texts of models
#
# Copies of core/answers (thoughts, blocks, json) and core/verify/numbers of the service, which state the rules; tests
# compare both on the same texts.

THINKING_PARTS = {"thinking", "reasoning", "redacted_thinking", "reasoning_text", "thought"}
NOT_END = r"[^\n\r\u2028\u2029]"  # any character of a line


def pattern(text, flags=0):
    """A pattern with the classes of ECMAScript: \\s is its white space, \\d and \\w are ASCII."""
    classes = text.replace(r"\s", f"[{WHITE}]").replace(r"\S", f"[^{WHITE}]")
    return re.compile(classes, flags | re.ASCII | re.DOTALL)


TAG = r"(?:antml:)?(?:think(?:ing)?|thoughts?|reasoning|seed:think|antthinking)"
THOUGHT_TAGS = [  # an opening tag, a closing one, both, and an opening one that leads a text
    [pattern(form, re.I) for form in (opening, closing, f"({opening})|{closing}", r"\s*" + opening)]
    for opening, closing in [
        (rf"<{TAG}(?:\s[^<>\n]{{0,200}})?>", rf"</{TAG}\s*>"),
        (r"\[THINK\]", r"\[/THINK\]"),
        ("◁think▷", "◁/think▷"),
        (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
        (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
        (r"<\|channel>thought\b", r"<channel\|>"),
    ]
]
ANSWER_MARKS = pattern(
    r"\A\s*<\|(?:begin_of_solution|START_RESPONSE)\|>|<\|(?:end_of_solution|END_RESPONSE)\|>\s*\Z"
)
END_MARKS = pattern(
    r"(?:\s*(?:<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end_of_turn|end|return)\|>"
    r"|<end_of_turn>|<eos>|<｜end▁of▁sentence｜>))+\s*\Z"
)
MAX_THOUGHTS = MAX_TAGS = 1_000
MARK_CHARS = 200
MAX_ROUNDS = 20


def without_end_marks(text):
    end = len(text)
    while end > 0:
        start = max(0, end - MARK_CHARS)
        found = END_MARKS.search(text[start:end])
        if not found:
            break
        end = start + found.start()
    return text[:end]


def without_thoughts(text):
    """The answer behind a model's thoughts."""
    for _ in range(MAX_ROUNDS):
        text = without_end_marks(text)
        answer = without_thoughts_once(text)
        if answer is None:
            break
        text = answer
    return text


def without_thoughts_once(text):
    """The answer behind thoughts or in channels; None: neither."""
    channels = split_channels(text)
    thoughts, answer = channels or (None, text)
    parts = [] if thoughts is None else [thoughts]
    reader, start = TagReader(answer), 0
    for _ in range(MAX_THOUGHTS):
        end = reader.end_of_thought(start)
        if end is None:
            break
        parts.append(answer[start:end])
        start = end
    if not parts:
        return answer if channels else None
    rest = answer[start:]
    return trim(ANSWER_MARKS.sub("", rest) if "<|" in "".join(parts) else rest)


FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
FENCED_LINE = re.compile(r"(?:\A|(?<=[\n\r\u2028\u2029]))[ \t]*(?:`{3,}|~{3,})")


class TagReader:
    """A text whose tags are looked at from a place on: what stands before is no part of it."""

    def __init__(self, text):
        self.text, self.unclosed, self.fences = text, set(), None

    def end_of_thought(self, start):
        """The end of the thought that leads, whose opening tag may be missing; None: none leads."""
        for _, _, tags, leading in THOUGHT_TAGS:
            led = leading.match(self.text, start)
            if led:
                return self.end_of_opened(start, led.end(), tags)
        ends = (self.end_of_unopened(start, opening, closing) for opening, closing, _, _ in THOUGHT_TAGS)
        return next((end for end in ends if end is not None), None)

    def end_of_opened(self, start, inside, tags):
        depth, last = 1, None
        for seen, found in enumerate(tags.finditer(self.text, inside)):
            if seen == MAX_TAGS:
                break
            if self.is_mention(start, *found.span()):
                continue
            depth += 1 if found[1] else -1
            last = last if found[1] else found.end()
            if depth == 0:
                return last
        return len(self.text) if last is None else last

    def end_of_unopened(self, start, opening, closing):
        if closing in self.unclosed:
            return None
        seen = -1
        for seen, found in enumerate(closing.finditer(self.text, start)):
            if seen == MAX_TAGS:
                return None
            line = self.text[max(start, self.text.rfind("\n", 0, found.start() + 1) + 1) : found.start()]
            if not opening.search(line) and not self.is_mention(start, *found.span()):
                return found.end()
        if seen < 0:
            self.unclosed.add(closing)
        return None

    def is_mention(self, begin, start, end):
        """Whether a tag stands in quotation marks, in inline code, or in a fence that is closed behind."""
        before, after = self.text[max(begin, start - 4) : start], self.text[end : end + 4]
        if re.search("[\"'“‘]\\Z", before) and re.match("[\"'”’.,]", after):
            return True
        if re.search(r"(?:\A|[^`])`{1,2}\Z", before) and re.match(r"`{1,2}(?:[^`]|\Z)", after):
            return True
        if self.fences is None:
            self.fences = [found.start() for found in FENCED_LINE.finditer(self.text)]
        below, starts = bisect.bisect_left, lambda at: bool(FENCE.match(self.text, at))
        opened = below(self.fences, start) - below(self.fences, begin + 1) + starts(begin)
        closed = len(self.fences) - below(self.fences, end) + starts(end)
        return opened % 2 == 1 and closed % 2 == 1


CHANNEL = "<|channel|>"
NAMES = r"\s*(?:final|analysis|commentary)\b"


def split_channels(text):
    """Thoughts (None: none) and answer of gpt-oss's channels; None: a text without channels."""
    bare = pattern(r"\s*analysis(?=\S)(.*?)assistantfinal(.*)\Z").match(text)
    if bare:
        return trim(bare[1]), trim(bare[2])
    leads = pattern(r"\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>").match(text)
    if not leads and not pattern(rf"<\|(?:end|start)\|>.{{0,40}}<\|channel\|>{NAMES}").search(text):
        return None
    head, *parts = text.split(CHANNEL)
    marks = r"<\|(?:start|end|return|call|channel|message|constrain)\|>"
    thoughts, answer = [pattern(r"\bassistant\s*\Z").sub("", " ".join(re.split(marks, head)))], ""
    for part in parts:
        name, *rest = part.split("<|message|>")
        body = "<|message|>".join(rest) or pattern(r"\A" + NAMES).sub("", name)
        body = re.split(r"<\|(?:end|return|call|start)\|>", body)[0]
        if pattern(r"\s*final\b").match(name):
            answer = body
        else:
            thoughts.append(body)
    return "\n".join(filter(None, map(trim, thoughts))) or None, trim(answer)


Fence = namedtuple("Fence", "mark length head before")
TAG_FORM = re.compile(r"[\w.+#-]*", re.ASCII)
ANEW = pattern(
    r"\b(?:final|revised|improved|shorter|better|instead|actually|hmm|wait|version|attempt|draft)\b|\A\s*no[,.]", re.I
)


def blocks_of(text):
    """The fenced blocks of a text: start, end, text inside, whether it is closed."""
    raw = text.split("\n")
    lines = [line[:-1] if line.endswith("\r") else line for line in raw]
    fences = [fence_of(line) for line in lines]
    starts = [0]
    for line in raw:
        starts.append(starts[-1] + len(line) + 1)
    blocks, at = [], 0
    while at < len(lines):
        opening = fences[at]
        if opening and (opening.before == "" or opening.before.endswith(":")):
            closing = closing_of(lines, fences, at)
            last = len(lines) - 1 if closing is None else closing
            inside = [] if TAG_FORM.fullmatch(opening.head) else [opening.head]
            inside += lines[at + 1 : len(lines) if closing is None else closing]
            if closing is not None and fences[closing].before:
                inside.append(fences[closing].before)
            blocks.append((starts[at], starts[last + 1] - 1, "\n".join(inside), closing is not None))
            at = last
        at += 1
    return blocks


def fence_of(line):
    leading = pattern(rf"\s*(`{{3,}}(?!`)|~{{3,}}(?!~))({NOT_END}*)\Z").match(line)
    if leading:
        run, head = leading[1], trim(leading[2])
        return None if "```" in head else Fence(run[0], len(run), head, "")
    trailing = re.match(rf"({NOT_END}*[^`])(`{{3,}})[ \t]*\Z", line)
    if not trailing or "```" in trailing[1]:
        return None
    return Fence("`", len(trailing[2]), "", trailing[1].rstrip(WHITE))


def closing_of(lines, fences, at):
    """The line of the fence that closes the block opened at a line; None: none."""
    outer, inner = fences[at], 0
    for line in range(at + 1, len(lines)):
        fence = fences[line]
        if not fence or fence.mark != outer.mark or fence.length < outer.length:
            continue
        if fence.head:
            inner += 1 if TAG_FORM.fullmatch(fence.head) else 0
        elif inner > 0:
            inner -= 1 if fence.before == "" else 0
        elif fence.before == "" and opens_inner(lines, fences, line):
            inner += 1
        else:
            return line
    return None


def opens_inner(lines, fences, at):
    """Whether a fence opens an inner block: it is announced, and two more fences follow."""
    if not is_announced(lines, at):
        return False
    after = next_fence(fences, at)
    if after is None or is_announced(lines, after) or any(ANEW.search(line) for line in lines[at + 1 : after]):
        return False
    return fences[after].head == "" and next_fence(fences, after) is not None


def next_fence(fences, at):
    mark, length = fences[at].mark, fences[at].length
    follows = (line for line in range(at + 1, len(fences)) if fences[line])
    fits = (line for line in follows if fences[line].mark == mark and fences[line].length >= length)
    return next((line for line in fits if fences[line].before == ""), None)


def is_announced(lines, at):
    line = at - 1
    while line > 0 and trim(lines[line]) == "":
        line -= 1
    return line >= 0 and trim(trim(lines[line]).rstrip("*")).endswith((":", "："))


STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
BEGINS_VALUE = pattern(
    rf'\{{\s*(?:\}}|\Z|{STRING}\s*(?::|\Z)|"[^"]*\Z)|\[\s*(?:[\]{{["]|\Z|-?\d|true\b|false\b|null\b)'
)
BRACKET = pattern(rf'{STRING}|["{{}}[\]]')
BRACKET_ONLY = re.compile(r"[{}[\]]")
MAX_SCANNED = 4_000_000
TOO_DEEP = []
for _ in range(MAX_DEPTH):
    TOO_DEEP = [TOO_DEEP]


def json_in(text, accepts):
    """A list with the last whole value in a text that `accepts` takes; an empty list: none."""
    answer = without_thoughts(text)
    whole = try_json(answer)
    if whole:
        return whole if accepts(whole[0]) else []
    blocks = blocks_of(answer)
    if blocks and not blocks[-1][3]:
        return []
    found = [(start, False, end, *try_json(inside)) for start, end, inside, _ in blocks]
    found = [item for item in found if len(item) == 4]
    fenced = [(start, end) for start, _, end, _ in found]
    found += [item for item in values_in(answer) if not any(start <= item[0] < end for start, end in fenced)]
    taken = sorted((item for item in found if accepts(item[3])), key=lambda item: item[0])
    last = [item for item in taken if not item[1]][-1:] or taken[-1:]
    return [item[3] for item in last]


def values_in(text):
    """The objects and lists in prose: start, whether it is a remark, end, value."""
    found, left, at = [], MAX_SCANNED, 0
    opening = re.compile(r"[{[]").search
    match = opening(text, at)
    while match and left > 0:
        start = match.start()
        at = match.end()
        if BEGINS_VALUE.match(text, start):
            end = end_of_value(text, start)
            if end == "open":
                return []
            left -= (len(text) if end is None else end) - start
            if end is not None:
                at = end
                value = try_json(text[start:end])
                if value:
                    found.append((start, text[start - 1 : start] == "`" or is_plain(value[0]), end, value[0]))
        match = opening(text, at)
    return found


def is_plain(value):
    """Whether a value is empty, or a list of texts, numbers, true and false."""
    if isinstance(value, dict):
        return not value
    return not any(item is None or isinstance(item, (dict, list)) for item in value)


def end_of_value(text, start):
    """The end of the brackets that open at `start`; None: prose, no value; or "open"."""
    closers, brackets, match = [], BRACKET, BRACKET.match(text, start)
    while match:
        part = match[0]
        if part == '"':  # a text that never ends is none
            brackets = BRACKET_ONLY
        elif part in "{[":
            closers.append("}" if part == "{" else "]")
        elif part in "}]":
            if not closers or closers.pop() != part:
                return None
            if not closers:
                return match.end()
        match = brackets.search(text, match.end())
    return "open" if text[start] == "{" or text.startswith("[{", start) else None


def try_json(text):
    """A list with the value of a text that is nothing but JSON, or an empty list."""
    try:
        return [parse_json(trim(text))]
    except RecursionError:
        return [TOO_DEEP]
    except ValueError:
        return []


CURRENCIES = (
    "$\xa2-\xa5\u058f\u060b\u07fe\u07ff\u09f2\u09f3\u09fb\u0af1\u0bf9\u0e3f\u17db\u20a0-\u20c1\ua838\ufdfc\ufe69"
    "\uff04\uffe0\uffe1\uffe5\uffe6\U00011fdd-\U00011fe0\U0001e2ff\U0001ecb0"
)
WHOLE, NO_MORE = r"[1-9]\d{0,2}", r"(?!\d|[.,]\d)"
DOTTED = rf"{WHOLE}(?:(?:\.\d{{3}}){{1,10}},\d+|(?:\.\d{{3}}){{2,10}}){NO_MORE}"
DECIMAL = "|".join(
    [
        DOTTED,
        rf"{WHOLE}(?:,\d{{3}}){{1,10}}(?:\.\d+)?{NO_MORE}",
        rf"[1-9]\d?(?:,\d\d){{1,8}},\d{{3}}(?:\.\d+)?{NO_MORE}",
        rf"(?<!\d ){WHOLE}(?:[ '’_\u00a0\u202f\u2009]\d{{3}}){{1,10}}(?:[.,]\d+)?{NO_MORE}",
        rf"(?<!\[)(?<!\d,)\d+,\d+{NO_MORE}",
        r"\d+(?:\.\d*)?",
        r"\.\d+",
    ]
)
EXPONENT = r"[eE][+−-]?\d+(?!\w)|\s?(?:[×*·x]|\\times|\\cdot)\s?10\s?(?:\^|\*\*)\s?\{?[+−-]?\d+\}?"
FRACTION = r"\\[dt]?frac\{(?P<top>\d+)\}\{(?P<bottom>\d+)\}|(?<!/)(?P<over>\d+)/(?P<under>\d+)(?!\d|[./]\d)"
SIGN = rf"(?P<sign>(?<![A-Za-z0-9_)\]}}])[+−–‑-])?(?:\\?[{CURRENCIES}][ \u00a0]?)?(?<![A-Za-z_\d])"
NUMBER = pattern(
    rf"(?P<version>(?<!\d)(?!{DOTTED})\d+(?:\.\d+){{2,}})|"
    rf"{SIGN}(?:{FRACTION}|(?P<number>{DECIMAL})(?P<exponent>{EXPONENT})?)(?P<percent>\s?\\?%)?"
)
GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}")
MAX_READ = 100_000


def numbers_in(text):
    """The finite numbers in a text, in order."""
    tail = text if units(text) <= MAX_READ else text.encode("utf-16-le", "surrogatepass")[-2 * MAX_READ :]
    tail = tail if isinstance(tail, str) else tail.decode("utf-16-le", "surrogatepass")
    return [value for value in map(number_of, NUMBER.finditer(plain_digits(tail))) if math.isfinite(value)]


HALF_WIDTH = 0xFEE0


def plain_digits(text):
    """Full-width signs, vulgar fractions and a text that is nothing but `,5`, in usual digits."""
    narrow = re.sub("[！-～]", lambda wide: chr(ord(wide[0]) - HALF_WIDTH), text)
    written = re.sub("(?<![0-9])([0-9]{0,15}) ?([¼-¾⅐-⅞])", vulgar, narrow)
    return pattern(r"\A(\s*[+−–-]?),(?=\d+\s*(?:%\s*)?\Z)").sub(r"\g<1>0,", written)


def vulgar(found):
    over, under = map(int, unicodedata.normalize("NFKC", found[2]).split("⁄"))
    return repr(int(found[1] or 0) + over / under)


def whole_number(text):
    """The number that a text is, without a word beside it; None: none, or no finite one."""
    given = trim(text)
    found = NUMBER.search(given) if units(given) <= MAX_READ else None
    value = number_of(found) if found and found[0] == given else math.nan
    return value if math.isfinite(value) else None


def number_of(found):
    top, bottom = found["top"] or found["over"], found["bottom"] or found["under"]
    if top is not None:
        size = float(top) / float(bottom) if float(bottom) else math.inf
    elif found["number"] is None:
        return math.nan  # a version
    else:
        power = re.search(r"[+−-]?[0-9]+(?=\}?\Z)", found["exponent"] or "")
        size = float(f"{decimal_text(found['number'])}e{power[0].replace('−', '-') if power else 0}")
    return -size if found["sign"] in ("-", "−", "–", "‑") else size


def decimal_text(number):
    """The digits of a number, with a point before the decimal ones."""
    marked = re.sub("[^0-9.,]", "", number)
    comma, dot = marked.rfind(","), marked.rfind(".")
    if comma < 0:
        return marked if marked.find(".") == dot else marked.replace(".", "")
    if comma > dot and not GROUPED.fullmatch(marked):
        return marked.replace(".", "").replace(",", ".", 1)
    return marked.replace(",", "")


# ---------------------------------------------------------------- answers of models


def read_json(text, schema=None):
    """The JSON of a text: with a schema, its last value of the schema's types."""
    types = {"type": schema["type"]} if schema and "type" in schema else {}
    found = json_in(text, lambda value: value_problem(types, value, "") is None) or json_in(text, lambda value: True)
    if not found:
        raise Unusable(f"has no JSON: {describe(text)}")
    problem = size_problem(found[0])
    if problem:
        raise Unusable(problem)
    return found[0]


def read_answer(form, text):
    """The value of a model's answer, by the "output" of its step."""
    if "field" in form:
        if units(text) > MAX_ANSWER:
            raise Unusable(f"is longer than {MAX_ANSWER} characters")
        return {form["field"]: text}
    value = read_json(text, form["schema"])
    problem = value_problem(form["schema"], value, "")
    if problem:
        raise Unusable(f"does not match the schema: {problem}")
    return value


def value_problem(schema, value, path):
    """The first violation of a JSON Schema by a value, or None."""
    where = path or "the answer"
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(is_of_type(value, name) for name in types):
            return f"{where} must be of type {' or '.join(types)}, but is {describe(value)}"
    if "enum" in schema and exact_key(value) not in map(exact_key, schema["enum"]):
        return f"{where} must be one of {', '.join(map(to_json, schema['enum']))}, but is {describe(value)}"
    if isinstance(value, list) and "items" in schema:
        problems = (value_problem(schema["items"], item, f"{path}[{index}]") for index, item in enumerate(value))
        return next(filter(None, problems), None)
    if not isinstance(value, dict):
        return None
    for name in schema.get("required", []):
        if name not in value:
            return f'{where} lacks "{name}"'
    properties = schema.get("properties", {})
    for name, item in value.items():
        if name in properties:
            problem = value_problem(properties[name], item, f"{path}.{name}" if path else name)
            if problem:
                return problem
        elif not schema.get("additionalProperties", True):
            return f'{where} must not have "{name}"'
    return None


def is_of_type(value, name):
    if name == "number":
        return is_number(value)
    if name == "integer":
        return is_number(value) and math.isfinite(value) and value == math.floor(value)
    return isinstance(value, {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}[name])


# ---------------------------------------------------------------- votes and conditions


def group_equal(values):
    """Groups equal values: [first value, count], in the order of the first values."""
    groups = {}
    for value in values:
        groups.setdefault(key_of(value), [value, 0])[1] += 1
    return list(groups.values())


def numbered(candidates):
    """Candidates as shown to a judge; every line is marked, so that no candidate can imitate another."""
    texts = []
    for number, value in enumerate(candidates, 1):
        only = list(value.values()) if isinstance(value, dict) else []
        text = only[0] if len(only) == 1 and isinstance(only[0], str) else text_of(value)
        lines = re.split("\r\n|[\n\v\f\r\u0085\u2028\u2029]", text)
        texts.append(f"Candidate {number}:\n" + "\n".join(f"> {line}" for line in lines))
    return "\n\n".join(texts)


def read_verdict(candidates, text):
    """The candidate chosen by a judge: the only number in its answer, or in its last line."""

    def indexes_in(part):
        return {float(found) for found in re.findall("[0-9]+", part)}

    expected = f"number from 1 to {len(candidates)}"
    lines = [line for line in re.split("\r\n|[\n\r]", text) if trim(line)]
    named = indexes_in(text)
    if not named:
        raise Unusable(f"names no candidate; expected a {expected}")
    if len(named) > 1:
        named = indexes_in(lines[-1])
    if len(named) != 1:
        raise Unusable(f"does not name exactly one candidate; expected one {expected} in the last line")
    number = named.pop()
    if not 1 <= number <= len(candidates):
        raise Unusable(f"names {number_text(number)}, which is not one of 1 to {len(candidates)}")
    return candidates[int(number) - 1]


def holds(when, value):
    """Whether the condition of a select step holds for a value."""
    test, other = when["is"], when.get("value")
    if test == "equals":
        return key_of(value) == key_of(other)
    if test == "empty":
        return value is None or value in ([], {}) or (isinstance(value, str) and trim(value) == "")
    if test == "contains":
        if isinstance(value, list):
            return key_of(other) in map(key_of, value)
        if not isinstance(value, str):
            raise Failed(f"contains expects a text or a list, but got {describe(value)}")
        return normal_text(text_of(other)) in normal_text(value)
    number = whole_number(value) if isinstance(value, str) else value
    if not is_number(number):
        raise Failed(f"{test} expects a number, but got {describe(value)}")
    return number < other if test == "less" else number > other


# ---------------------------------------------------------------- transforms: steps without a model


def transform(step, inputs):
    """The value of a transform step; inputs by name, in the order of the step."""
    op = step["op"]
    if op == "template":
        text = render(step["text"], inputs.__getitem__, MAX_SIZE)
        if text is None:
            raise Failed(f"gives more than {MAX_SIZE} characters")
        return text
    if op == "object":
        return inputs
    if op == "list":
        return list(inputs.values())
    if op == "concat":
        for name, value in inputs.items():
            if not isinstance(value, list):
                raise Failed(f"expects lists, but got {describe(value)} as {name}")
        return [item for value in inputs.values() for item in value]
    if op == "json_text":
        return to_json(inputs["value"])
    if "text" in inputs:
        return text_transform(step, inputs["text"])
    if not isinstance(inputs["list"], list):
        raise Failed(f"expects a list, but got {describe(inputs['list'])}")
    return list_transform(step, inputs["list"])


def text_transform(step, text):
    op = step["op"]
    if op == "number" and is_number(text):
        return text
    if not isinstance(text, str):
        raise Failed(f"expects a text, but got {describe(text)}")
    if op == "json_parse":
        try:
            return read_json(text)
        except Unusable as problem:
            raise Failed(f"expects JSON, but its input {problem}") from None
    if op == "split":
        return text.split(step["by"])
    if op == "lines":
        return [line for line in map(trim, re.split("\r\n|[\n\r]", text)) if line]
    if op == "number":
        numbers = numbers_in(text)
        if not numbers:
            raise Failed(f"finds no number in {describe(text)}")
        return numbers[-1]
    if op == "between":
        start, end = step["start"], step["end"]
        before, is_there, after = text.partition(start)
        if not is_there:
            raise Failed(f"finds no {quoted(start)} in {describe(text)}")
        within, is_there, after = after.partition(end)
        if not is_there:
            raise Failed(f"finds no {quoted(end)} after {quoted(start)} in {describe(text)}")
        return trim(within)
    return {"lower": str.lower, "upper": str.upper, "trim": trim}[op](text)


def list_transform(step, items):
    op = step["op"]
    if op == "join":
        texts = list(map(text_of, items))
        if sum(map(units, texts)) + units(step["by"]) * max(0, len(texts) - 1) > MAX_SIZE:
            raise Failed(f"gives more than {MAX_SIZE} characters")
        return joined(texts, step["by"])
    if op in ("first", "last", "item"):
        index = int({"first": 0, "last": -1}[op] if op != "item" else step["index"])
        if not -len(items) <= index < len(items):
            raise Failed(f"finds no item {index} in {describe(items)}")
        return items[index]
    if op == "count":
        return float(len(items))
    if op == "pluck":
        path = step["path"].split(".")
        try:
            return [value_at(item, path, f"item {index}") for index, item in enumerate(items)]
        except Failed as failure:
            raise Failed(f"of {failure.reason}") from None
    if op == "unique":
        return [first for first, _ in group_equal(items)]
    for index, item in enumerate(items):
        if not is_number(item):
            raise Failed(f"expects a list of numbers, but got {describe(item)} as item {index}")
    if not items and op != "sum":
        raise Failed("has no value for an empty list")
    number = {"min": min, "max": max, "sum": total}[op](items)
    if not math.isfinite(number):
        raise Failed("is too large for a number")
    return number


def total(numbers):
    """The sum from left to right: sum() compensates rounding errors since Python 3.12."""
    result = 0.0
    for number in numbers:
        result += number
    return result


# ---------------------------------------------------------------- a run of a graph

Call = namedtuple("Call", "key step at messages model timeout_s tries read")
WAITING = object()  # a value that is not known yet


class Run:
    """
    A run of a graph on one input. It makes no calls: it adds possible calls to `pending` and reads their answers from
    `answers`. It evaluates from the output backwards, so that only needed steps run.
    """

    def __init__(self, graph, task_input):
        self.graph, self.input = graph, task_input
        self.steps = {step["id"]: step for step in graph["steps"]}
        self.values = {}  # by step
        self.answers = {}  # by step: a list, with WAITING for missing answers
        self.pending = []
        self.left = MAX_RUN  # remaining characters of messages
        self.waiting = set()
        too_large = size_problem(task_input)
        if too_large:
            raise Failed(f"the input {too_large}")
        if not isinstance(task_input, dict):
            raise Failed(f"the input must be an object, but is {describe(task_input)}")
        missing = [quoted(name) for name in graph["inputs"] if name not in task_input]
        if missing:
            raise Failed(f"the input lacks {', '.join(missing)}")

    def output(self):
        """The graph's output, or WAITING."""
        self.waiting = set()
        ref = self.graph["output"]
        return self.resolve(ref) if self.has(ref) else WAITING

    def has(self, ref):
        """Whether the source of a ref is known; runs its step if possible."""
        head = ref.split(".")[0]
        return head not in self.steps or self.value_of(head) is not WAITING

    def resolve(self, ref, item=None):
        """The value of a ref; item: the current one of a map."""
        head, *path = ref.split(".")
        start = self.input if head == "input" else self.values[head] if head in self.steps else item
        return value_at(start, path, ref)

    def value_of(self, name):
        """The value of a step, or WAITING."""
        if name in self.values or name in self.waiting:
            return self.values.get(name, WAITING)
        self.waiting.add(name)  # each step is visited once
        step = self.steps[name]
        try:
            value = self.work(step)
            too_large = None if value is WAITING else size_problem(value)
            if too_large:
                raise Failed(f"{step.get('op', step['type'])} gives a value that {too_large}")
        except Failed as failure:
            raise failure if failure.step or isinstance(failure, RunFailed) else Failed(failure.reason, name) from None
        if value is not WAITING:
            self.values[name] = value
        return value

    def work(self, step):
        kind = step["type"]
        if step["id"] in self.answers:
            answers = self.answers[step["id"]]
            if WAITING in answers:
                return WAITING
            return answers if kind == "map" or len(answers) > 1 else answers[0]
        if kind == "select":
            return self.choose(step)
        if not all([self.has(ref) for ref in step_refs(step)]):  # a list, not a generator: start all of them
            return WAITING
        if kind == "transform":
            inputs = {name: self.resolve(ref) for name, ref in step["inputs"].items()}
            try:
                return transform(step, inputs)
            except Failed as failure:
                raise Failed(f"{step['op']} {failure.reason}") from None
        if kind == "vote":
            return self.vote(step)
        if kind == "map":
            return self.each(step)
        return self.ask(step, step, [(None, None)] * int(step.get("samples", 1)))

    def choose(self, step):
        """The first case that holds; later conditions and other branches are not evaluated."""
        for case in step["cases"]:
            when = case["when"]
            if not self.has(when["of"]):
                return WAITING
            try:
                value = self.resolve(when["of"])
            except Failed:
                if when["is"] != "empty":
                    raise
                value = None
            try:
                is_chosen = holds(when, value)
            except Failed as failure:
                raise Failed(f"the condition on {when['of']}: {failure.reason}") from None
            if is_chosen:
                return self.resolve(case["then"]) if self.has(case["then"]) else WAITING
        return self.resolve(step["otherwise"]) if self.has(step["otherwise"]) else WAITING

    def each(self, step):
        items, max_items = self.list_of(step), int(step.get("max_items", MAP_ITEMS))
        if len(items) > max_items:
            raise Failed(f"map accepts at most {max_items} items, but got {describe(items)}")
        return self.ask(step, step, [(step["as"], item) for item in items]) if items else []

    def vote(self, step):
        values = self.list_of(step) if "over" in step else [self.resolve(ref) for ref in step["of"]]
        if not values:
            raise Failed("vote has nothing to choose from: the list is empty")
        groups = group_equal(values)
        if step["by"] == "majority":
            return max(groups, key=lambda group: group[1])[0]  # ties: the first
        candidates = [first for first, _ in groups]
        if len(candidates) == 1:
            return candidates[0]
        judge = step["by"]["judge"]
        return self.ask(step, judge, [("candidates", numbered(candidates))], candidates)

    def list_of(self, step):
        value = self.resolve(step["over"])
        if not isinstance(value, list):
            raise Failed(f"{step['type']} expects a list, but got {describe(value)}")
        return value

    def render(self, prompt, extra=None, value=None):
        """The messages of one call; `extra` is a name beside the inputs, with its value."""

        def value_of(name):
            return value if name == extra else self.resolve(prompt["inputs"][name], value)

        messages, left = [], MAX_MESSAGES
        for message in prompt["messages"]:
            content = render(message["content"], value_of, left)
            if content is None:
                raise Failed(f"its messages have more than {MAX_MESSAGES} characters")
            left -= units(content)
            messages.append({"role": message["role"], "content": content})
        return messages

    def ask(self, step, prompt, extras, candidates=None):
        """Adds a pending call for each pair: a name beside the inputs, and its value."""

        def read(text):
            answer = without_thoughts(text)
            return read_answer(step["output"], answer) if candidates is None else read_verdict(candidates, answer)

        name = step["id"]
        self.answers[name] = [WAITING] * len(extras)
        for at, (extra, value) in enumerate(extras):
            messages = self.render(prompt, extra, value)
            self.left -= sum(units(message["content"]) for message in messages)
            if self.left < 0:
                raise RunFailed(f"the messages of the run's model calls have more than {MAX_RUN} characters in all")
            key = name if at == 0 else f"{name}#{at + 1}"
            settings = [prompt.get("timeout_s", TIMEOUT_S), int(prompt.get("tries", TRIES))]
            self.pending.append(Call(key, name, at, messages, prompt.get("model"), *settings, read))
        return WAITING


def step_refs(step):
    """The refs of a step other than select."""
    prompt = step["by"]["judge"] if step["type"] == "vote" and step["by"] != "majority" else step
    return [*([step["over"]] if "over" in step else step.get("of", [])), *prompt.get("inputs", {}).values()]


# ---------------------------------------------------------------- calls


def run_graph(graph, task_input, complete):
    """
    The output of a graph for an input, or Failed. complete(call) returns the model's answer to call.messages or raises
    NoAnswer; it is called from several threads, since independent calls run concurrently.
    """
    run, done, slots, calls = Run(graph, task_input), queue.Queue(), threading.Semaphore(MAX_CONCURRENT), 0
    while True:
        output = run.output()
        if output is not WAITING:
            return output
        for call in run.pending:
            threading.Thread(target=make, args=(call, complete, slots, done), daemon=True).start()
        calls += len(run.pending)
        run.pending = []
        if calls == 0:
            raise Failed("the graph's steps wait for each other")
        call, value, failure = done.get()
        calls -= 1
        if failure:
            raise failure
        run.answers[call.step][call.at] = value


def make(call, complete, slots, done):
    with slots:
        try:
            done.put((call, usable_answer(call, complete), None))
        except Exception as error:
            reason = str(error) if isinstance(error, (Failed, NoAnswer)) else f"{type(error).__name__}: {error}"
            done.put((call, None, Failed(reason, call.step)))


def usable_answer(call, complete):
    for _ in range(call.tries):
        try:
            return call.read(complete(call))
        except Unusable as error:
            problem = error
    raise Failed(f"no usable answer in {call.tries} {'try' if call.tries == 1 else 'tries'}: the answer {problem}")


def openai_completer(base_url=None, model=None):
    """Completes calls with the openai package; None: use the environment and the graph."""
    import openai

    client = openai.OpenAI(base_url=base_url, max_retries=0)

    def complete(call):
        name = model or call.model
        if name is None:
            raise NoAnswer("the step has no model: use --model")
        sent = [{**m, "content": m["content"].encode("utf-8", "replace").decode("utf-8")} for m in call.messages]

        def create():
            return client.chat.completions.create(model=name, messages=sent, timeout=call.timeout_s)

        for wait in RETRY_WAITS_S:
            try:
                return answer_text(with_timeout(call.timeout_s, create))
            except (openai.APITimeoutError, TimeoutError):
                reason = f"{name} gave no answer within {number_text(call.timeout_s)} s"
            except openai.APIConnectionError as error:
                reason = f"the connection to {client.base_url} failed: {error.__cause__ or error}"
            except openai.APIStatusError as error:
                reason = f"{name}: {cut(str(error), 1000)}"
                headers = error.response.headers
                if not may_pass(error.status_code, headers.get("x-should-retry")):
                    break
                after = headers.get("retry-after", "")
                wait = wait and max(wait, float(after) if re.fullmatch("[0-9]+", after) else 0)
            except (openai.APIError, ValueError) as error:
                raise Unusable(f"cannot be read: {cut(str(error), 1000)}") from None
            if wait is None or wait > 60:
                break
            time.sleep(wait)
        raise NoAnswer(reason)

    return complete


def may_pass(status, advice=None):
    """Whether the same request may succeed later, by the service's table; advice: x-should-retry."""
    if advice in ("true", "false"):
        return advice == "true"
    return status in (408, 409, 425, 429, 498, 499) or (status >= 500 and status not in (501, 505))


def answer_text(completion):
    """The text of a model's answer, possibly empty."""
    try:
        content = completion.choices[0].message.content or ""
    except (AttributeError, IndexError, TypeError):
        raise Unusable("has no message") from None
    return content if isinstance(content, str) else "".join(map(part_text, content))


def part_text(part):
    """The text of a part of a message that is no thought."""
    text = part.get("text") if part.get("type") not in THINKING_PARTS else None
    return text if isinstance(text, str) else ""


def with_timeout(limit, work):
    """The result of work(), or TimeoutError after `limit` seconds, even if bytes keep arriving."""
    done = queue.Queue()

    def run():
        try:
            done.put((work(), None))
        except BaseException as error:
            done.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        value, error = done.get(timeout=limit)
    except queue.Empty:
        raise TimeoutError from None
    if error:
        raise error
    return value


# ---------------------------------------------------------------- the command


def load(path):
    """The JSON in a file; -: standard input."""
    if path == "-":
        return parse_json(trim(sys.stdin.buffer.read().decode("utf-8")))
    with open(path, encoding="utf-8") as file:
        return parse_json(trim(file.read()))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="Runs graph.json on one input and prints the output as JSON.")
    parser.add_argument("input", nargs="?", help="a file with the input, a JSON object; - for standard input")
    parser.add_argument("--text", help="instead of a file, the text of the graph's only input field")
    parser.add_argument("--model", help="the model of all steps, instead of those in graph.json")
    parser.add_argument("--base-url", help="base URL of the models; default: OPENAI_BASE_URL")
    options = parser.parse_args()
    try:
        graph = load(os.path.join(here, "graph.json"))
    except (OSError, ValueError) as error:
        parser.error(f"cannot read graph.json: {error}")
    fields = graph["inputs"]
    if (options.input is None) == (options.text is None):
        parser.error(f"expected an input with {', '.join(fields) or 'no fields'}: a file, - or --text")
    if options.text is not None and len(fields) != 1:
        parser.error(f"--text requires a graph with one input field; this graph has {', '.join(fields) or 'none'}")
    try:
        task_input = {fields[0]: options.text} if options.text is not None else load(options.input)
    except (OSError, ValueError, RecursionError) as error:
        parser.error(f"cannot read the input: {error}")
    try:
        complete = openai_completer(options.base_url, options.model)
    except ImportError:
        fail("the openai package is not installed: pip install openai")
    except Exception as error:  # for example a missing key, named by the message
        fail(str(error))
    try:
        output = run_graph(graph, task_input, complete)
    except Failed as failure:
        fail(f"step {quoted(failure.step)}: {failure.reason}" if failure.step else failure.reason)
    sys.stdout.buffer.write((to_json(output) + "\n").encode("utf-8"))


def fail(reason):
    print(f"run.py: {reason}", file=sys.stderr)
    sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
