"""What may be said of an error to those who may not read memory: logs, Temporal's history, traces.

Messages of databases and libraries quote values: the row that breaks a constraint, the text that is no number, the key
that a dictionary lacks. So only errors of Mnestic and of Temporal keep their texts; of all others the type, the code
and the place are told.
"""

import os
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from pydantic import ValidationError

from mnestic.memory.errors import MnesticError

_OWN_WORDS = ("mnestic", "temporalio")  # packages whose errors quote nothing by accident
_DATABASE = ("psycopg", "sqlalchemy")
# Conditions of Postgres, by their class, whose first line names roles, tables, locks or limits, never values.
# Source: PostgreSQL documentation, appendix A.
_WITHOUT_VALUES = frozenset(
    ["08", "0A", "25", "26", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58"]
)
_CHARACTERS = ("22001", "22021")  # too long, and of no encoding: the value is not in the message
_QUOTING = ("42601", "42602")  # errors of syntax, also of what is parsed out of a value
_RAISED = "exec_stmt_raise"  # by a function in PL/pgSQL, of whoever wrote a trigger
_NAMES = ("table", "column", "constraint")


def error_text(error: BaseException) -> str:
    """What may be said of an error, beside its type."""
    if is_own(error):
        return str(error)
    return "; ".join(filter(None, [_details(error) or "its text is withheld", _place(error)]))


def is_own(error: BaseException) -> bool:
    """Whether its text may be told as it is."""
    return _package(error) in _OWN_WORDS


def describe_error(error: BaseException) -> str:
    """The type of an error, and what may be said of it."""
    text = error_text(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def database_text(error: BaseException) -> str:
    """What may be said of an error of a database or its driver: the message where it names no value, or else the code."""
    driver: Any = getattr(error, "orig", None) or error
    code = getattr(driver, "sqlstate", None)
    if code is None:
        return _first_line(driver) if _is_of_the_connection(driver) else type(driver).__name__
    if _names_no_value(code) and driver.diag.source_function != _RAISED:
        return driver.diag.message_primary or f"SQLSTATE {code}"
    names = [
        f"{what} {name}"
        for what in _NAMES
        if (name := getattr(driver.diag, f"{what}_name")) is not None
    ]
    return ", ".join([f"SQLSTATE {code} ({type(driver).__name__})", *names])


def cause_of(error: BaseException) -> BaseException | None:
    """What an error came from, as Python tells it."""
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came from, each once; of a group, its members too."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        left += [*getattr(one, "exceptions", ()), cause_of(one)]


def _details(error: BaseException) -> str:
    """What is told of errors whose parts are known not to quote."""
    if _package(error) in _DATABASE:
        code = getattr(getattr(error, "orig", error), "sqlstate", None)
        text = database_text(error)
        return text if code is None or code in text else f"SQLSTATE {code}, {text}"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    if isinstance(error, ValidationError):
        kinds = dict.fromkeys(problem["type"] for problem in error.errors(include_input=False))
        return f"{error.title} has {error.error_count()} problems ({', '.join(kinds)})"
    return ""


def _names_no_value(code: str) -> bool:
    return code in _CHARACTERS or (code[:2] in _WITHOUT_VALUES and code not in _QUOTING)


def _is_of_the_connection(driver: BaseException) -> bool:
    """Whether the driver speaks of the connection or the pool, not of a statement and its values."""
    kinds = {kind.__name__ for kind in type(driver).__mro__}
    return bool(kinds & {"OperationalError", "InterfaceError", "TimeoutError"})


def _place(error: BaseException) -> str:
    """Where it was raised: the innermost line of this package, or else of all."""
    inner, ours = None, None
    for frame, line in _frames(error.__traceback__):
        name = frame.f_globals.get("__name__", "")
        inner = f"at {name}:{line}"
        ours = inner if name.startswith("mnestic.") else ours
    return ours or inner or ""


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _package(error: BaseException) -> str:
    return (
        "mnestic" if isinstance(error, MnesticError) else type(error).__module__.partition(".")[0]
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
