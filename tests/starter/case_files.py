"""Cases that are data: YAML beside the tests that read them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def read_cases(test: str, name: str) -> Any:
    """The cases in a file beside a test; `{text: x, times: 300}` stands for a long text, with what is `before` it."""
    text = Path(test).with_name(f"{name}.yaml").read_text("utf-8")
    return _lengthened(yaml.load(text, Loader=yaml.CSafeLoader))


def _lengthened(value: Any) -> Any:
    if isinstance(value, list):
        return [_lengthened(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "times" in value:
        return value.get("before", "") + value["text"] * value["times"]
    return {name: _lengthened(member) for name, member in value.items()}


def filled(value: Any, names: Mapping[str, str]) -> Any:
    """A value of a case, with what was found before in the place of `{name}`."""
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if isinstance(value, dict):
        return {name: filled(member, names) for name, member in value.items()}
    if not isinstance(value, str):
        return value
    return re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], found[0]), value)


def at(document: Any, place: str) -> Any:
    """What is at a place such as `items.0.id`."""
    for name in place.split("."):
        document = document[int(name) if isinstance(document, list) else name]
    return document


def differences(found: Any, expected: Any, place: str = "") -> list[str]:
    """Where a document lacks what is expected of it: the members that are named, and lists as they are."""
    if isinstance(expected, dict) and isinstance(found, dict):
        missing = [f"{place}.{name} is missing" for name in expected if name not in found]
        return missing + [
            one
            for name in expected.keys() & found.keys()
            for one in differences(found[name], expected[name], f"{place}.{name}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [
            one
            for number, (each, wanted) in enumerate(zip(found, expected, strict=True))
            for one in differences(each, wanted, f"{place}.{number}")
        ]
    return [] if found == expected else [f"{place}: {found!r} is not {expected!r}"]
