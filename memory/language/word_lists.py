"""Word lists: reads and validates YAML files of words.

It stands alone because all of them are read by one rule: once per process, when they are first needed.
"""

from functools import cache
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

Words = TypeVar("Words")


@cache
def read_word_lists(path: Path, model: type[Words]) -> dict[str, Words]:
    """The word lists of a file by language, such as `en`.

    Raises:
        pydantic.ValidationError: The file is not of the model's form.
    """
    return TypeAdapter(dict[str, model]).validate_python(parse_yaml(path.read_text("utf-8")))  # type: ignore[valid-type]


def parse_yaml(text: str) -> object:
    """The document of our own YAML, by libyaml where it is there: a search reads several files."""
    import yaml  # noqa: PLC0415 - workflows load this module, and read no files

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: object = yaml.load(text, Loader=loader)  # noqa: S506 - both loaders are safe
    return document
