"""The base of the models of this room, which build what validates them when they are first used.

Every model derives from it: there are some two hundred, a process uses a few dozen of them, and to build them all takes
a fifth of the time in which a client of memory is imported.
"""

from pydantic import BaseModel, ConfigDict


class DeferredModel(BaseModel):
    """A pydantic model whose validator and serializer are built by their first use, once, under pydantic's lock."""

    model_config = ConfigDict(defer_build=True)
