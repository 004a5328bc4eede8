"""Statements that are too long to be read inline: each is a file of `sql/`, with a comment that says what it is for."""

from importlib.resources import files

from sqlalchemy import TextClause, text


def statement(name: str) -> TextClause:
    """The statement in the file `sql/{name}.sql`."""
    return text((files("mnestic.stores.postgres") / "sql" / f"{name}.sql").read_text("utf-8"))
