"""Word lists: reads and validates YAML files of words.

All of them are read by one rule: once per process, when they are first needed.
"""

import re
from functools import cache
from pathlib import Path
from typing import TypeVar

from pydantic import ConfigDict, RootModel, TypeAdapter

Words = TypeVar("Words")
_REFERENCE = re.compile(r"(?<!\(\?)(?<!\?P)<([a-z_]+)>")


class _Patterns(RootModel[dict[str, list[str]]]):
    model_config = ConfigDict(frozen=True, defer_build=True)


@cache
def read_word_lists(path: Path, model: type[Words]) -> dict[str, Words]:
    """The word lists of a file by language, such as `en`.

    Raises:
        pydantic.ValidationError: The file is not of the model's form.
    """
    return TypeAdapter(dict[str, model]).validate_python(parse_yaml(path.read_text("utf-8")))  # type: ignore[valid-type]


def read_patterns(path: Path) -> dict[str, str]:
    """The patterns of an English file, by name: the alternatives of each list, with other patterns for `<name>`.

    Raises:
        pydantic.ValidationError: The file has something else than lists of texts.
        KeyError: A `<name>` stands before the list of that name.
    """
    patterns: dict[str, str] = {}
    for name, alternatives in read_word_lists(path, _Patterns)["en"].root.items():
        either = "|".join(alternatives)
        patterns[name] = _REFERENCE.sub(lambda match: f"(?:{patterns[match[1]]})", either)
    return patterns


def parse_yaml(text: str) -> object:
    """The document of our own YAML, by libyaml where it is there: a search reads several files."""
    import yaml  # noqa: PLC0415 - workflows load this module, and read no files

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: object = yaml.load(text, Loader=loader)  # noqa: S506 - both loaders are safe
    return document
