"""Statements that are too long to be read inline: each is a file of `sql/`, with a comment that says what it is for."""

import re
from importlib.resources import files

from sqlalchemy import TextClause, text

_COMMENT = re.compile(r"--.*")


def statement(name: str) -> TextClause:
    """The statement in the file `sql/{name}.sql`.

    Without comments and indentation: of statements of up to 4,096 characters psycopg remembers where their values stand.
    """
    written = (files("mnestic.stores.postgres") / "sql" / f"{name}.sql").read_text("utf-8")
    return text(" ".join(_COMMENT.sub("", written).split()))
