"""A timeline's entries as text: a title and details."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from mnestic.memory.jobs.timeline import TimelineEntry, TimelineEventKind
from mnestic.memory.names import EXTEND_WAIT
from mnestic.starter.cli.output import counted
from mnestic.starter.short_texts import shortened

Detail = Mapping[str, Any]
_SHORT_HASH = 12  # hexadecimal digits
_LONGEST_ID = 24  # characters; what is longer was made up by a computer

_TITLES: Mapping[TimelineEventKind, str] = {
    "started": "job started",
    "continued": "new run",
    "wait_opened": "wait opened",
    "wait_extended": "wait extended",
    "timer_fired": "timer fired",
    "needs_attention": "needs attention",
    "cancel_requested": "cancel requested",
    "clock_moved": "clock moved",
    "worker_lost": "worker lost",
    "ended": "job ended",
}


def title(entry: TimelineEntry) -> str:
    """The title of an entry."""
    if entry.what == "step":
        return str(entry.detail["kind"])
    if entry.what in ("requested", "refused"):
        name = entry.detail.get("name", "request")
        return f"{'extend' if name == EXTEND_WAIT else name} {entry.what}"
    if entry.what == "ended":
        return f"job {entry.detail.get('outcome', 'ended')}".replace("_", " ")
    return _TITLES.get(entry.what, entry.what)


def about(entry: TimelineEntry) -> str:
    """The details of an entry, in one line."""
    words = _ABOUT.get(entry.what, _cause)
    return " · ".join(part for part in words(entry.detail) if part)


def brief(name: str | None) -> str | None:
    """An id, shortened if it is a long generated one."""
    return name if name is None or len(name) <= _LONGEST_ID else f"{name[:8]}…"


def _started(detail: Detail) -> Iterator[str]:
    yield _labelled("plan", detail.get("plan"))
    yield _labelled("agent", detail.get("agent"))
    yield _labelled("session", detail.get("session"))
    yield _labelled("forked from", detail.get("forked_from"))
    yield _labelled("by", detail.get("by"))


def _continued(detail: Detail) -> Iterator[str]:
    yield _labelled("epoch", detail.get("epoch"))


def _step(detail: Detail) -> Iterator[str]:
    activity = str(detail.get("activity", ""))
    node = detail.get("node")
    yield str(node or ("" if activity.startswith("mnestic.") else activity))
    yield activity if node and detail["kind"] == "tool" else ""
    for name in ("records", "missing", "episodes"):
        yield _count_or_empty(detail.get(name), name)
    yield _labelled("episode", brief(detail.get("episode_id")))
    yield _labelled("model", detail.get("model"))
    if "input_tokens" in detail:
        yield f"{detail['input_tokens']} + {detail.get('output_tokens', 0)} tokens"
    state = detail.get("state", "done")
    yield "" if state == "done" else state
    yield from _tried(detail)


def _tried(detail: Detail) -> Iterator[str]:
    attempts = detail.get("attempts", 1)
    yield f"{attempts} attempts" if attempts > 1 else ""
    yield _duration(detail.get("duration_s")) or ""
    yield str(detail.get("cause", ""))


def _wait_opened(detail: Detail) -> Iterator[str]:
    until = _moment(detail.get("deadline"))
    yield f"{detail.get('key', '')} ({_number(detail)})" + (f" until {until}" if until else "")
    yield f"snapshot {brief(detail.get('snapshot_id'))}, {_hash(detail)}"
    messages, records = detail.get("message_count"), detail.get("record_count")
    counts = (_count_or_empty(messages, "messages"), _count_or_empty(records, "records"))
    yield ", ".join(count for count in counts if count)


def _wait_extended(detail: Detail) -> Iterator[str]:
    yield f"{_number(detail)} until {_moment(detail.get('deadline'))}"


def _requested(detail: Detail) -> Iterator[str]:
    yield _labelled("request", brief(detail.get("request_id")))
    yield _labelled("outcome", detail.get("outcome"))
    yield _labelled("until", _moment(detail.get("until")))
    sender = detail.get("by") or detail.get("identity")
    yield f"{detail['via']} from {sender}" if "via" in detail else ""
    yield _labelled("reason:", detail.get("reason"))
    yield str(detail.get("cause", ""))


def _timer_fired(detail: Detail) -> Iterator[str]:
    yield _labelled("", detail.get("key"))
    yield _labelled("after", _duration(detail.get("after_s")))


def _restored(detail: Detail) -> Iterator[str]:
    yield f"{_number(detail)} {detail.get('outcome', '')}".strip()
    if "verified" in detail:
        yield f"{'verified' if detail['verified'] else 'NOT verified'} {_hash(detail)}"
    yield _labelled("drift", detail.get("drift_count"))
    yield _labelled("newer memory set aside as snapshot", detail.get("set_aside"))
    yield _labelled("request", brief(detail.get("request_id")))
    if "reason" in detail:
        yield shortened(f"override by {detail.get('by', 'somebody')}: {detail['reason']}")


def _needs_attention(detail: Detail) -> Iterator[str]:
    yield _number(detail)
    yield _labelled("request", brief(detail.get("request_id")))
    yield str(detail.get("cause", ""))


def _cancel_requested(detail: Detail) -> Iterator[str]:
    yield _labelled("by", detail.get("by"))
    yield _labelled("reason:", detail.get("reason"))


def _clock_moved(detail: Detail) -> Iterator[str]:
    yield _labelled("by", _duration(detail.get("by_s")))


def _ended(detail: Detail) -> Iterator[str]:
    yield _labelled("plan", detail.get("plan"))
    yield _count_or_empty(detail.get("waits"), "waits")
    yield _labelled("episode", brief(detail.get("episode_id")))
    yield _labelled("by", detail.get("by"))
    yield str(detail.get("cause", ""))


def _cause(detail: Detail) -> Iterator[str]:
    yield str(detail.get("cause", ""))


_ABOUT: Mapping[TimelineEventKind, Callable[[Detail], Iterator[str]]] = {
    "started": _started,
    "continued": _continued,
    "step": _step,
    "wait_opened": _wait_opened,
    "wait_extended": _wait_extended,
    "requested": _requested,
    "refused": _requested,
    "timer_fired": _timer_fired,
    "restored": _restored,
    "needs_attention": _needs_attention,
    "cancel_requested": _cancel_requested,
    "clock_moved": _clock_moved,
    "ended": _ended,
}


def _labelled(word: str, value: Any) -> str:
    return "" if value is None else f"{word} {value}".strip()


def _count_or_empty(number: int | None, things: str) -> str:
    return "" if number is None else counted(number, things)


def _number(detail: Detail) -> str:
    """The wait, without the job's id before it."""
    return str(detail.get("wait_id", "")).rpartition("/")[2]


def _hash(detail: Detail) -> str:
    sha256 = detail.get("sha256")
    return f"sha256 {sha256[:_SHORT_HASH]}…" if sha256 else ""


def _moment(text: str | None) -> str | None:
    return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M}" if text else None


def _duration(seconds: float | None) -> str | None:
    """A duration, in the unit that fits it."""
    if seconds is None:
        return None
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds:.1f} s"
    return str(timedelta(seconds=round(seconds))).removesuffix(", 0:00:00")
