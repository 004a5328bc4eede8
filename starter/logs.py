"""Logs: a constant sentence and its fields, as text or as JSON lines, on standard error."""

import json
import logging
from datetime import UTC, datetime

from mnestic.starter.settings import Settings

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

_CLIENTS = ("httpx2", "httpcore2", "openai")  # they log whole addresses, and what is sent


def configure_logs(settings: Settings) -> None:
    """Sends all logs to standard error in the form that the settings choose."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Json() if settings.log_format == "json" else _Text())
    logging.basicConfig(level=settings.log_level, handlers=[handler], force=True)
    for name in _CLIENTS:
        logging.getLogger(name).setLevel(logging.WARNING)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        line = f"{_at(record)} {record.levelname:<7} {record.name}: {record.getMessage()}"
        return "\n".join(filter(None, [f"{line} {fields}".rstrip(), _failure(self, record)]))


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": _at(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        failure = _failure(self, record)
        if failure:
            entry["failure"] = failure
        return json.dumps(entry, default=str, ensure_ascii=False)


def _at(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


def _failure(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return formatter.formatException(record.exc_info) if record.exc_info else ""
