"""Forms that are small to write and large to follow, and payloads that they cost most on.

Run as a program with sizes of payloads for forms that are taken and for those that once were, it grows each form until it is refused, and validates payloads
against the largest one that is taken, in a process of its own with a limit of memory and of processor
time. It prints a line of JSON for each.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.forms.forms import check_form, check_payload

MEMORY_BYTES = 768 * 1024**2  # the address space of a process, of which an idle one takes 200 MB
PROCESS_CPU_S = 60  # for all payloads of a form
_LARGEST = 4_000  # of what a form is grown by

Form = dict[str, Any]


def _doubling(keyword: str, leaf: Form, times: int = 3) -> Callable[[int], Form]:
    """References, each of which leads to several of the next."""

    def grow(size: int) -> Form:
        defs = {
            f"n{level}": {keyword: [{"$ref": f"#/$defs/n{level + 1}"}] * times}
            for level in range(size)
        }
        return {"$defs": defs | {f"n{size}": leaf}, "items": {"$ref": "#/$defs/n0"}}

    return grow


def _nested(outer: Callable[[Form], Form], leaf: Form) -> Callable[[int], Form]:
    def grow(size: int) -> Form:
        form = leaf
        for _ in range(size):
            form = outer(form)
        return form

    return grow


def _many(keyword: str, rule: Callable[[int], Form]) -> Callable[[int], Form]:
    return lambda size: {"items": {keyword: [rule(number) for number in range(size)]}}


FORMS: dict[str, Callable[[int], Form]] = {
    "all errors of allOf": _doubling("allOf", {"type": "object"}),
    "all errors of anyOf": _doubling("anyOf", {"type": "object"}),
    "all errors of oneOf": _doubling("oneOf", {"type": "object"}),
    "allOf that fits": _doubling("allOf", {}, times=2),
    "oneOf of the same": _doubling("oneOf", {"minimum": 0}, times=2),
    "properties below properties": lambda size: {
        "$defs": {
            f"n{level}": {
                "properties": {name: {"$ref": f"#/$defs/n{level + 1}"} for name in "abc"},
                "required": ["x", "y", "z"],
            }
            for level in range(size)
        }
        | {f"n{size}": {}},
        "anyOf": [{"$ref": "#/$defs/n0"}, {"items": {"$ref": "#/$defs/n0"}}],
    },
    "unevaluated properties": _nested(
        lambda form: {"allOf": [form], "unevaluatedProperties": {}}, {"properties": {"z": {}}}
    ),
    "unevaluated items": _nested(
        lambda form: {"anyOf": [form], "unevaluatedItems": {}}, {"contains": {"type": "integer"}}
    ),
    "unevaluated and contains": lambda size: {
        "anyOf": [*({"contains": {"const": -number - 1}} for number in range(size)), {}],
        "unevaluatedItems": {"type": ["integer", "string", "object", "array", "number"]},
    },
    "many constants": _many("anyOf", lambda number: {"const": -number - 1}),
    "many types": _many("allOf", lambda _: {"type": "boolean"}),
    "many fractions": _many("allOf", lambda _: {"multipleOf": 0.01}),
    "many tiny fractions": _many("allOf", lambda _: {"multipleOf": 5e-324}),
    "many objects": lambda size: {"items": {"enum": [{"a": number} for number in range(size)]}},
    "many that must be unique": lambda size: {"allOf": [{"uniqueItems": True}] * size},
    "unique at every level": _nested(lambda form: {"items": form, "uniqueItems": True}, {}),
    "contains": lambda size: {"allOf": [{"contains": {"const": -1}}] * size},
    "names": lambda size: {"propertyNames": {"allOf": [{"minLength": 1}] * size}},
    "huge limits": lambda size: {
        "items": {"minLength": 10**size, "maxItems": 10**size, "minProperties": 10**size}
    },
    "a long constant": lambda size: {"items": {"const": "a" * size * 4 + "😀"}},
    "a long constant for names": lambda size: {"propertyNames": {"const": "a" * size * 4 + "😀"}},
    "a name at each level": _nested(
        lambda form: {"properties": {"a": form}, "required": ["b"]}, {}
    ),
}

PATTERNS: dict[str, Callable[[int], Form]] = {
    "a long repetition": lambda size: {"items": {"pattern": rf"[ab]*a[ab]{{{size}}}c"}},
    "repetitions": _many("allOf", lambda number: {"pattern": rf"[ab]*a[ab]{{{number + 500}}}c"}),
    "repeated letters": _many("allOf", lambda number: {"pattern": rf"\p{{L}}{{{number + 1}}}\d"}),
    "a repetition of repetitions": lambda size: {"pattern": rf"(?:(?:a|b)?){{{size * 20}}}c"},
    "classes that are repeated never": lambda size: {
        "items": {"pattern": r"(?i)(?:" + r"\pL\pN\w\W[^\pL]" * size + "){0}x"}
    },
    "patterns of names": lambda size: {
        "patternProperties": {f"k{number}$": {"type": "string"} for number in range(size)},
        "unevaluatedProperties": {"type": "integer"},
    },
}

PAYLOADS: dict[str, Callable[[int], Any]] = {
    "numbers": lambda size: [1] * (size // 2),
    "longer numbers": lambda size: [10**300 + number for number in range(size // 302)],
    "short floats": lambda size: [1e308] * (size // 6),
    "one text": lambda size: ["ab" * (size // 2 - 2)],
    "texts": lambda size: ["ab"] * (size // 5),
    "names": lambda size: {f"b{number}": number for number in range(size // 14)},
    "lists": lambda size: [[number] for number in range(size // 9)],
    "deep": lambda size: _nested(lambda inner: {"a": inner}, {})(min(size // 6, 60)),
}


def taken(grow: Callable[[int], Form], *, bounded: bool) -> Form:
    """The largest of these forms that is not refused, by today's limits or without those of cost."""
    low, high = 1, _LARGEST
    while low < high:
        middle = (low + high + 1) // 2
        is_taken = _is_taken(grow(middle), bounded=bounded)
        low, high = (middle, high) if is_taken else (low, middle - 1)
    return grow(low)


def _is_taken(form: Form, *, bounded: bool) -> bool:
    try:
        check_form(form, bounded=bounded)
    except (InvalidInputError, RecursionError):
        return False
    return True


def _attack(name: str, form: Form, sizes: Sequence[int]) -> None:
    """Validates each payload in a process of its own for the form, which tells what came of each."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESS_CPU_S, PROCESS_CPU_S))
        for payload_name, make in PAYLOADS.items():
            for size in sizes:
                _tell({"payload": f"{payload_name} of {size}", **_outcome(form, make(size))})
        os._exit(0)
    _, status = os.waitpid(child, 0)
    _tell({"form": name, "ended": os.waitstatus_to_exitcode(status)})


def _outcome(form: Form, payload: Any) -> dict[str, Any]:
    began = time.process_time()
    try:
        check_payload(form, payload)
        outcome = "fits"
    except InvalidInputError as error:
        outcome = f"refused: {error}"
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"outcome": outcome, "cpu_s": time.process_time() - began, "peak_kb": peak_kb}


def _tell(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    for_taken, for_unbounded = ([int(size) for size in text.split(",")] for text in sys.argv[1:])
    for form_name, grow in (FORMS | PATTERNS).items():
        _attack(form_name, taken(grow, bounded=True), for_taken)
    for form_name, grow in FORMS.items():  # as plans of 0.2.0 may have them
        _attack(f"{form_name}, unbounded", taken(grow, bounded=False), for_unbounded)
