"""Logs: a constant sentence and its fields, as text or as JSON lines, on standard error.

Errors are logged with their type, code and place, and never with a text that may quote memory; see
`memory/error_texts.py`.
"""

import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Iterable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from mnestic.memory.error_texts import chain_of, describe_error, is_own
from mnestic.starter.settings import Settings

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_LEADS_TO = "\nThis error led to the next one:\n"
# asyncio's, and the SDK's for workflows: with the arguments of the callback.
_CALLBACK = re.compile(r"(Exception in callback [\w.<>]+).*")
_LONG_ENOUGH = re.compile(r".{3}")  # a shorter text is too common to redact
log = logging.getLogger("mnestic")

# They log whole addresses, request bodies, or what a tool answers.
_LIBRARIES = ("httpx2", "httpcore2", "openai", "mcp")


def configure_logs(settings: Settings) -> None:
    """Sends all logs to standard error in the form that the settings choose.

    Libraries log at INFO at most: at DEBUG some of them log what they send, prompts and payloads.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(_Json() if settings.log_format == "json" else _Text())
    libraries = "INFO" if settings.log_level == "DEBUG" else settings.log_level
    logging.basicConfig(level=libraries, handlers=[handler], force=True)
    log.setLevel(settings.log_level)
    for name in _LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)


def log_uncaught_errors() -> None:
    """Sends uncaught errors, which Python would print, to the logs."""
    sys.excepthook = _log_uncaught
    sys.unraisablehook = lambda of: _log_uncaught(of.exc_type, of.exc_value, of.exc_traceback)
    threading.excepthook = lambda of: _log_uncaught(of.exc_type, of.exc_value, of.exc_traceback)


def format_error(error: BaseException) -> str:
    """An error with its traceback and causes, as Python prints them, without texts that may quote memory."""
    parts = [
        "\n".join(
            [
                "Traceback (most recent call last):",
                "".join(traceback.format_tb(each.__traceback__)) + describe_error(each),
            ]
        )
        for each in chain_of(error)
    ]
    return _LEADS_TO.join(reversed(parts))


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        line = f"{_at(record)} {record.levelname:<7} {record.name}: {_message(record)}"
        return "\n".join(filter(None, [f"{line} {fields}".rstrip(), _failure(record)]))


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": _at(record),
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record),
            **_fields(record),
        }
        failure = _failure(record)
        if failure:
            entry["failure"] = failure
        return json.dumps(entry, default=str, ensure_ascii=False)


def _at(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {name: _shown(value) for name, value in vars(record).items() if name not in _STANDARD}


def _message(record: logging.LogRecord) -> str:
    """The message; of a library's record, its first line, with errors described as elsewhere."""
    shown = logging.makeLogRecord({"msg": _shown(record.msg), "args": _shown_args(record.args)})
    message = shown.getMessage()
    if record.name.partition(".")[0] == log.name:
        return message
    message = _CALLBACK.sub(r"\1", message.partition("\n")[0])
    for error in _errors_of(record):
        if not is_own(error):
            for text in filter(_LONG_ENOUGH.match, (repr(error), str(error))):
                message = message.replace(text, describe_error(error))
    return message


def _shown_args(args: Any) -> Any:
    if isinstance(args, tuple):
        return tuple(map(_shown, args))
    if isinstance(args, dict):
        return {name: _shown(value) for name, value in args.items()}
    return args


def _shown(value: Any) -> Any:
    return describe_error(value) if isinstance(value, BaseException) else value


def _errors_of(record: logging.LogRecord) -> Iterable[BaseException]:
    error = record.exc_info[1] if record.exc_info else None
    return () if error is None else chain_of(error)


def _failure(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return "" if error is None else format_error(error)


def _log_uncaught(
    kind: type[BaseException], error: BaseException | None, place: TracebackType | None
) -> None:
    """The traceback that Python would print."""
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error or kind(), place)
        return
    log.critical("an error was not caught", exc_info=(kind, error or kind(), place))
