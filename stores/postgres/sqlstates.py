"""What a database error means for the caller: one table of SQLSTATEs.

It decides whether an activity is retried (`failures.py`). The driver's own classes do not tell: it has a lost prepared
statement in the class of a syntax error.
"""

from enum import Enum, auto

import psycopg

from mnestic.memory.error_texts import database_text
from mnestic.memory.errors import DatabaseUnavailableError, InvalidInputError


class Meaning(Enum):
    """Who has to act."""

    UNAVAILABLE = auto()  # nobody here: the same may succeed in a new transaction
    LACKS_RIGHT = auto()  # whoever runs the database, and then the same succeeds
    NOT_MIGRATED = auto()  # whoever runs the database
    BAD_INPUT = auto()  # whoever gave the value


# By SQLSTATE or its class; the longer one counts. Source: PostgreSQL, appendix A, "PostgreSQL Error Codes".
_MEANINGS = {
    "08": Meaning.UNAVAILABLE,  # the connection is lost; also PgBouncer's only code, 08P01
    "22": Meaning.BAD_INPUT,  # a value that no column can hold
    "25": Meaning.UNAVAILABLE,  # the transaction is: aborted, idle for too long, or on a standby
    "26": Meaning.UNAVAILABLE,  # a prepared statement is gone: a pooler gave us another session
    "28": Meaning.LACKS_RIGHT,  # to log in
    "3F": Meaning.NOT_MIGRATED,  # there is no such schema
    "40": Meaning.UNAVAILABLE,  # a deadlock, or transactions that cannot follow each other
    "42501": Meaning.LACKS_RIGHT,  # to a table, a column or a function
    "42P01": Meaning.NOT_MIGRATED,  # there is no such table
    "42P05": Meaning.UNAVAILABLE,  # a prepared statement exists: a pooler gave us another session
    "53": Meaning.UNAVAILABLE,  # disk, memory or connections are used up
    "54": Meaning.BAD_INPUT,  # more than can be indexed
    "55": Meaning.UNAVAILABLE,  # a lock was not to be had
    "57": Meaning.UNAVAILABLE,  # it is shut down or starts, or somebody cancelled the statement
    "58": Meaning.UNAVAILABLE,  # the operating system failed it
    "XX": Meaning.UNAVAILABLE,  # two changed the catalogue at once, or a page is broken; also Supavisor's only code
}
_LOST = (psycopg.OperationalError, psycopg.InterfaceError)
_REVALIDATING = "RevalidateCachedQuery"  # where Postgres finds that a plan has other columns now


def meaning_of(error: psycopg.Error) -> Meaning | None:
    """What a database error means, None where it is for us to mend."""
    state = error.sqlstate
    if state is None:  # of the driver itself
        if isinstance(error, psycopg.DataError):
            return Meaning.BAD_INPUT
        return Meaning.UNAVAILABLE if isinstance(error, _LOST) else None
    if isinstance(error, psycopg.errors.FeatureNotSupported):
        is_plan = error.diag.source_function == _REVALIDATING
        return Meaning.UNAVAILABLE if is_plan else None
    return _MEANINGS.get(state) or _MEANINGS.get(state[:2])


def bad_input(error: psycopg.Error) -> InvalidInputError:
    """The error of a value that Postgres or its driver does not take."""
    why = reason_of(error)
    if isinstance(error, psycopg.errors.ProgramLimitExceeded):
        return InvalidInputError(what="a text", why=f"is more than can be indexed: {why}")
    return InvalidInputError(what="a name or a value", why=why)


def unavailable(error: psycopg.Error, *, where: str, remedy: str = "") -> DatabaseUnavailableError:
    """The error of a Postgres that does not answer, or says that it cannot, and how to mend it."""
    answers = error.sqlstate is not None
    why = f"{reason_of(error)}; {remedy}" if remedy else reason_of(error)
    return DatabaseUnavailableError(where=where, why=why, answers=answers)


def reason_of(error: psycopg.Error) -> str:
    """What Postgres or its driver says of an error, in a line that quotes no value."""
    return database_text(error)
