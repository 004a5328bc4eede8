"""How a database error becomes one of ours, whose branch decides whether an activity is retried.

An error whose SQLSTATE the table (`sqlstates.py`) leaves out stays as it is: it is retried until a fixed worker is there.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from mnestic.memory.errors import MnesticError
from mnestic.stores.postgres.schema import never_migrated
from mnestic.stores.postgres.sqlstates import (
    Meaning,
    bad_input,
    meaning_of,
    unavailable,
)


@contextmanager
def failures(*, where: str) -> Iterator[None]:
    """Turns database errors into ours.

    Args:
        where: The database, without passwords.
    """
    try:
        yield
    except psycopg.Error as error:
        if (ours := translated(error, where=where)) is None:
            raise
        raise ours from error


def translated(error: psycopg.Error, *, where: str) -> MnesticError | None:
    """The error of ours that a database error is; None where it is for us to mend.

    Args:
        error: Of psycopg.
        where: The database, without passwords.
    """
    match meaning_of(error):
        case Meaning.UNAVAILABLE:
            return unavailable(error, where=where)
        case Meaning.LACKS_RIGHT:  # until it is granted, work waits, and nothing is lost
            return unavailable(error, where=where, remedy="`mnestic migrate` grants what is needed")
        case Meaning.NOT_MIGRATED:
            return never_migrated()
        case Meaning.BAD_INPUT:
            return bad_input(error)
        case None:
            return None
