"""Models that are built by their first use: each can be built, and none is built as it is imported."""

import json
import pkgutil
import subprocess
import sys
from importlib import import_module

from pydantic import BaseModel

from mnestic import memory
from mnestic.memory.deferred_model import DeferredModel

MODULES = [
    module.name for module in pkgutil.walk_packages(memory.__path__, prefix=f"{memory.__name__}.")
]
UNBUILT = """
import json
from mnestic.memory.jobs import plans
from mnestic.memory.knowledge import entries
from mnestic.memory.retrieval import queries

models = (entries.EntryQuery, plans.Plan, queries.Retrieval)
print(json.dumps([model.__name__ for model in models if model.__pydantic_complete__]))
"""


def models_of(module: str) -> list[type[BaseModel]]:
    return [
        value
        for value in vars(import_module(module)).values()
        if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == module
    ]


def test_every_model_can_be_built() -> None:
    built = [model.model_rebuild() for module in MODULES for model in models_of(module)]

    assert False not in built


def test_no_model_is_built_as_it_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNBUILT], capture_output=True, text=True, check=True, cwd="/"
    )

    assert json.loads(done.stdout) == []


def test_every_model_of_fields_is_deferred() -> None:
    eager = [
        f"{module}.{model.__name__}"
        for module in MODULES
        for model in models_of(module)
        if not model.__pydantic_root_model__ and not issubclass(model, DeferredModel)
    ]

    assert eager == [], "derive them from DeferredModel"
