"""Reads the payloads of events in Temporal's history, as far as a timeline needs them.

It drops texts of memory: its results are short, and safe to print.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent

from mnestic.memory.names import EXTEND_WAIT, OVERRIDE, PAUSE, POKE, RESUME, UNPAUSE
from mnestic.starter.short_texts import shortened

_OURS = frozenset({RESUME, OVERRIDE, EXTEND_WAIT, PAUSE, UNPAUSE, POKE})
_REQUEST_FIELDS = ("request_id", "wait_id", "outcome", "until", "reason", "by", "policy")


def at_of(event: HistoryEvent) -> datetime:
    """When the event happened, by the job's clock."""
    return event.event_time.ToDatetime(tzinfo=UTC)


def value_of(payloads: Sequence[Payload]) -> Any:
    """The first value; None if there is none or it is not JSON."""
    if not payloads or payloads[0].metadata.get("encoding") != b"json/plain":
        return None
    try:
        return json.loads(payloads[0].data)
    except ValueError:
        return None


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a JSON object; empty for any other value."""
    return value if isinstance(value, dict) else {}


def summary_of(event: HistoryEvent) -> str | None:
    """The summary that the workflow gave the event."""
    summary = value_of([event.user_metadata.summary])
    return summary if isinstance(summary, str) else None


def cause_of(failure: Failure) -> str:
    """The innermost cause of a failure."""
    while failure.HasField("cause"):
        failure = failure.cause
    kind = failure.application_failure_info.type
    message = failure.message or failure.WhichOneof("failure_info") or ""
    return shortened(f"{kind}: {message}" if kind else message)


def request_fields(name: str, value: Any) -> dict[str, Any]:
    """The fields of a signal or update: its name, and for ours its ids, outcome, reason and sender."""
    request: Mapping[str, Any] = fields_of(value) if name in _OURS else {}
    fields = {**request, **fields_of(request.get("override"))}
    fields_present = {
        key: fields[key] for key in _REQUEST_FIELDS if isinstance(fields.get(key), str)
    }
    return {
        "name": shortened(name),
        **{key: shortened(text) for key, text in fields_present.items()},
    }
