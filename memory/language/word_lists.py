"""Word lists: reads and validates a YAML file of words by language.

It stands alone because every list is read by one rule: once per process, when it is first needed.
"""

from functools import cache
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter

Words = TypeVar("Words", bound=BaseModel)


@cache
def read_word_lists(path: Path, model: type[Words]) -> dict[str, Words]:
    """The word lists of a file by language, such as `en`.

    Raises:
        pydantic.ValidationError: The file is not of the model's form.
    """
    import yaml  # noqa: PLC0415 - workflows load this module, and read no files

    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, model]).validate_python(document)  # type: ignore[valid-type]
