"""Redaction: what becomes of a stored row that speaks of a topic.

Pure, and apart from the store that reads and writes the rows, so that it can be told before anything is
written. Texts lose the sentences that speak of the topic, so that what else a summary or a snapshot says
stays; names, ids and times of ours are left, since rows hold on to each other by them.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.forgetting.cuts import SentenceCut
from mnestic.memory.forgetting.topics import FORGOTTEN, Topic
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.language.sentences import cut_text, split_sentences
from mnestic.memory.language.terms import terms_of
from mnestic.memory.names import HISTORIES, is_beside_records

Row = Mapping[str, Any]
_OURS = frozenset(
    {
        *("id", "agent_id", "session_id", "job_id", "wait_id", "request_id", "snapshot_id"),
        *("sha256", "snapshot_sha256", "ref", "episode_id", "episode_ids"),
    }
)
_FORM = frozenset({"id", "type", "role", "kind", "part_kind", "status", "call_id"})  # of items
_FREE = frozenset({"value", "payload", "payload_results", "inputs"})


@dataclass(frozen=True, kw_only=True)
class RowRedaction:
    """What is to be done with a row: it goes, or gets these values in place of its own."""

    remove: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)


def redaction_of(table: str, row: Row, topic: Topic) -> RowRedaction | None:
    """What is to be done with a row of a table; None if it does not speak of the topic."""
    if table in _WHOLE and topic.is_in(*_whole_texts(table, row)):
        left = _left_of(table, row, topic) if table in CUT else None
        return RowRedaction(remove=True) if left is None else RowRedaction(values=left)
    if table in _DOCUMENTS:
        document = row[_DOCUMENTS[table]]
        return RowRedaction(remove=True) if _free(document, topic) != document else None
    if table in _NAMED and topic.is_in(*(row[name] for name in _NAMED[table])):
        return RowRedaction(remove=True)
    if table == "long_term_record" and is_beside_records(row["namespace"]):
        return RowRedaction(remove=True) if _is_copy_of(row["value"], topic) else None
    redacted = _REDACTED.get(table, {})
    if table == "long_term_record" and row["namespace"].startswith(HISTORIES):
        redacted = {"value": _item}
    values = {name: value for name, value in row.items() if name in redacted}
    after = {name: redacted[name](value, topic) for name, value in values.items()}
    changed = {name: value for name, value in after.items() if value != values[name]}
    return RowRedaction(values=changed) if changed else None


def _condition(value: Any, topic: Topic) -> Any:
    """The fact that a wait waits for; of what is forgotten nothing matches it any more, and it can still be read."""
    struck = [
        name for name in ("subject", "object") if value and topic.is_in(value.get(name) or "")
    ]
    return value and value | {
        part: FORGOTTEN for name in struck for part in (name, f"{name}_key") if part in value
    }


def _where(value: Any, topic: Topic) -> Any:
    """What the event that a wait waits for has to say; of what is forgotten nothing is left, which no event matches."""
    return value if _free(value, topic) == value else None


def _is_copy_of(value: Any, topic: Topic) -> bool:
    """Whether a version or a conflict is of a record that speaks of the topic; it goes, since its key is made of the record's."""
    said = (
        [value.get(name) for name in ("key", "value", "metadata")]
        if isinstance(value, Mapping)
        else [value]
    )
    return topic.is_in(*texts_of(said)) or _free(said, topic) != said


def _whole_texts(table: str, row: Row) -> list[str]:
    """What a row says; a keyword that is a word of the content says no more than that, and may be a part of an identifier."""
    said = {name: row[name] for name in _WHOLE[table]}
    if "keywords" in said:
        own = frozenset(terms_of(row["content"]))
        said["keywords"] = [word for word in row["keywords"] if word not in own]
    return texts_of([*said.values()])


def _left_of(table: str, row: Row, topic: Topic) -> Row | None:
    """What is left of a message or an entry without the sentences that go; None if it goes as a whole."""
    cut = topic.cut(row["content"])
    left = {"content": cut.left, "channel": _name(row.get("channel"), topic)}
    if table != "resource":
        if row["summary"]:  # else it is the content
            left["summary"] = cut_text(cut.left, len(row["summary"]))
        for name in _NAMES:
            left[name] = [one for one in row[name] if not _goes_with(one, cut, topic)]
    is_whole = not cut.gone or not cut.left or topic.is_in(*_whole_texts(table, {**row, **left}))
    return None if is_whole else left


def _goes_with(name: str, cut: SentenceCut, topic: Topic) -> bool:
    """Whether a name goes: it has words of the topic, or only the sentences that go have it."""
    key = name_key(name)
    is_left = key in name_key(cut.left)
    return topic.has_word(name) or (not is_left and key in name_key(" ".join(cut.sentences)))


def texts_of(value: Any) -> list[str]:
    """All texts in a value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.items() for text in texts_of(item)]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in texts_of(item)]
    return []


def removed_sentences(row: Row, redaction: RowRedaction, topic: Topic) -> tuple[str, ...]:
    """The sentences of a row that go; of one that goes as a whole, those that have words of the topic."""
    if "content" in redaction.values:
        return topic.cut(row["content"]).sentences
    if redaction.remove:
        sentences = (one for text in texts_of(row) for one in split_sentences(text))
        return tuple(sentence for sentence in sentences if topic.strikes(sentence))
    changed = Counter(texts_of(row)) - Counter(texts_of({**row, **redaction.values}))
    return tuple(gone for text in changed.elements() for gone in _removed(text, topic))


def _removed(text: str, topic: Topic) -> tuple[str, ...]:
    """What goes out of a text that changes; all of it where what names it has the topic's words."""
    return topic.cut(text.replace(FORGOTTEN, "\n")).sentences or split_sentences(text)


def _text(value: Any, topic: Topic) -> Any:
    return topic.strike(value) if isinstance(value, str) else value


def _name(value: Any, topic: Topic) -> Any:
    """A name says nothing any more once a part of it is gone."""
    return FORGOTTEN if isinstance(value, str) and topic.is_in(value) else value


def _nothing(value: Any, topic: Topic) -> Any:
    return None if isinstance(value, str) and topic.is_in(value) else value


def _free(value: Any, topic: Topic) -> Any:
    """JSON of somebody else: members whose names speak of the topic go, texts are struck.

    What an object says in several of its texts, it says.
    """
    if isinstance(value, Mapping):
        members = {name: item for name, item in value.items() if not topic.is_in(name)}
        own = [text for item in members.items() for text in item if isinstance(text, str)]
        says = topic.is_in(*own)
        return {
            name: topic.strike(item, always=True)
            if says and isinstance(item, str)
            else _free(item, topic)
            for name, item in members.items()
        }
    if isinstance(value, (list, tuple)):
        return [_free(item, topic) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return FORGOTTEN if topic.is_in(str(value)) else value
    return _text(value, topic)


def _result(value: Any, topic: Topic) -> Any:
    """JSON of ours, which is read again: it keeps its form, and the ids in it."""
    if isinstance(value, Mapping):
        return {
            name: item if name in _OURS else (_free if name in _FREE else _result)(item, topic)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_result(item, topic) for item in value]
    return _text(value, topic)


def _item(value: Any, topic: Topic) -> Any:
    """Items of a history, which their framework reads again: what says of which form they are stays."""
    if isinstance(value, Mapping):
        return {
            name: item if name in _FORM and isinstance(item, str) else _item(item, topic)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_item(item, topic) for item in value]
    return _text(value, topic)


def _working(state: Any, topic: Topic) -> Any:
    """A session's state; what is in it that is no state is left to whoever reads it."""
    if not isinstance(state, Mapping):
        return state
    parts: dict[str, Callable[[Any], Any]] = {
        "messages": lambda messages: [_message(one, topic) for one in messages],
        "tool_calls": lambda calls: [_call(one, topic) for one in calls],
        "variables": lambda variables: _free(variables, topic),
        "scratchpad": lambda text: _text(text, topic),
        "current_task": lambda text: _text(text, topic),
        "segments": lambda segments: _segments(segments, topic),
    }
    return {name: parts[name](item) if name in parts else item for name, item in state.items()}


def _message(message: Row, topic: Topic) -> Row:
    free = {name: message[name] for name in ("content", "speaker") if message.get(name)}
    left = {**message, **_free(free, topic)}
    return {**left, "channel": _name(message["channel"], topic)} if "channel" in message else left


def _segments(segments: Any, topic: Topic) -> Any:
    """Segments without the topic; their ledger has ids and numbers alone."""
    if not isinstance(segments, Mapping):
        return segments
    return {**segments, "entries": [_segment_entry(one, topic) for one in segments["entries"]]}


def _segment_entry(entry: Row, topic: Topic) -> Row:
    """An entry of a segment; its tokens are counted again by the next step."""
    left = _message(entry, topic)
    if left["content"] != entry["content"]:
        left = {**left, "tokens": None}
    if source := entry.get("source"):
        channels = [_name(channel, topic) for channel in source.get("channels", ())]
        left = {**left, "source": {**source, "channels": channels}}
    return left


def _call(call: Row, topic: Topic) -> Row:
    free = {name: call[name] for name in ("arguments", "result") if name in call}
    return {**call, **{name: _free(value, topic) for name, value in free.items()}}


def _snapshot(document: Any, topic: Topic) -> Any:
    """A snapshot in whichever version; the hash of the working memory in it is that of what is left."""
    if not isinstance(document, Mapping) or "working_memory" not in document:
        return {} if topic.is_in(*texts_of(document)) else document  # it cannot be read anyway
    working = _working(document["working_memory"], topic)
    left = {
        **document,
        "working_memory": working,
        "episodic_tail": [_result(one, topic) for one in document.get("episodic_tail", ())],
        "read_set": [
            {**read, "value": _free(read.get("value"), topic)}
            for read in document.get("read_set", ())
            if not topic.is_in(read["namespace"], read["key"])
        ],
    }
    if "working_sha256" in document:
        left["working_sha256"] = sha256_hex(canonical_json(working))
    return left


def _extracted(claims: Any, topic: Topic) -> Any:
    """What was read out of a message, without the claims that speak of the topic."""
    return [claim for claim in claims or () if not topic.is_in(*_claimed(claim))] or None


def _claimed(claim: Row) -> list[str]:
    return texts_of([claim["subject"], claim["predicate"], claim["object"]])


_NAMES = ("subjects", "keywords", "tags", "aliases")
_OF_ENTRY = ("content", "summary", "speaker", *_NAMES)
_WHOLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "entry": _OF_ENTRY,
        "archived_entry": _OF_ENTRY,
        "resource": ("content", "speaker"),
        "claim": ("subject", "predicate", "object"),
        "fact": ("subject", "predicate", "object"),
        "predicate": ("name",),
        "category": ("summary",),
        "summary": ("text",),
        "document": ("id", "source", "metadata", "places", "content"),
    }
)
"""Rows that say one thing: they go as a whole."""

CUT = frozenset({"entry", "archived_entry", "resource"})
"""Of these rows sentences go, if that leaves some which do not speak of the topic."""

_DOCUMENTS: Mapping[str, str] = MappingProxyType(
    {"tool_result": "body", "plan": "document", "setting": "value"}
)
"""Rows that go as a whole because somebody holds on to them by a hash; what they say may be much."""

_NAMED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "long_term_record": ("namespace", "key"),
        "job_read": ("namespace", "key"),
        "lease": ("namespace", "key"),
        "graph_node": ("id",),
        "graph_edge": ("source", "target"),
    }
)
"""Rows that go once their name speaks of the topic."""

_REDACTED: Mapping[str, Mapping[str, Callable[[Any, Topic], Any]]] = MappingProxyType(
    {
        "working_memory": {"state": _working},
        "memory_snapshot": {"body": _snapshot},
        "job_wait": {
            "key": _name,
            "ask": _text,
            "form": _free,
            "outcomes": _result,
            "context": _result,
            "receipt": _result,
            "event_where": _where,
            "fact": _condition,
        },
        "channel_event": {"payload": _free},
        "graph_node": {"properties": _free},
        "graph_edge": {"properties": _free},
        "job_read": {"value": _free},
        "long_term_record": {"value": _free, "metadata": _free},
        "operation": {"result": _result},
        "episode": {"summary": _text, "payload": _free},
        "memory_retrievals": {
            "channel": _name,
            "preview": _text,
            "memories": _result,
            "notes": _result,
            "skipped": _result,
        },
        "entry": {"channel": _name},
        "archived_entry": {"channel": _name},
        "resource": {"channel": _name},
        "ingest_state": {"extracted": _extracted, "reason": _text},
        "memory_event": {"subject": _nothing, "predicate": _nothing},
        "audit_log": {"target": _name, "reason": _text},
    }
)
"""Rows that lose what speaks of the topic, by column. Where a message came from is not what it says."""

TABLES = frozenset({*_WHOLE, *_DOCUMENTS, *_NAMED, *_REDACTED})
"""Those in which words of a topic can stand; the others hold ids, numbers, and indexes of these."""
