"""All patterns that modules of a package compile, wherever they hold them."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from mnestic.memory.language.word_lists import read_patterns


def patterns_of(package: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns of a package's modules, each with the name of its module."""
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        for value in list(vars(module).values()):
            if getattr(value, "__module__", module.__name__) != module.__name__:
                continue
            for found in _within(value):
                yield info.name, found
        for file, by_name in (("_PATTERNS", "pattern"), ("_FILE", "_pattern")):
            compiled = vars(module).get(by_name)
            if compiled is not None and compiled.__module__ == module.__name__:
                for name in read_patterns(vars(module)[file]):
                    yield info.name, compiled(name)


def _within(value: Any) -> Iterator[re.Pattern[str]]:
    """The patterns of a value, of its parts, and of what a cached function returns."""
    if isinstance(value, re.Pattern):
        yield value
        return
    for each in _parts(value):
        yield from _within(each)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, BaseModel):
        known = [
            name for name, one in vars(type(value)).items() if isinstance(one, cached_property)
        ]
        return [getattr(value, name) for name in (*known, *type(value).model_fields)]
    is_cached = hasattr(value, "cache_info") and not inspect.signature(value).parameters
    return [value()] if is_cached else []
