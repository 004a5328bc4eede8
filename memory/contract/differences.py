"""Differences between two versions of a contract: what changed, by path, and what memory the new one drops or refuses.

A person reads both before the new version is stored. Parts of a list are compared by their ids, so that to move one is
no difference; a default that is written out is none either.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import ConfigDict

from mnestic.memory.canonical import canonical_json
from mnestic.memory.contract.document import ListedPart, MemoryContract, Part
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.word_lists import read_word_lists
from mnestic.memory.selectors import matches
from mnestic.memory.sharing.namespaces import AccessLevel

_SENTENCES = Path(__file__).with_name("consequences.yaml")
_ABSENT = object()
_IDS = re.compile(r"\[([^\]]*)\]")
# What is inside of these counts as one.
_WHOLE = re.compile(r"(\[\]\.structure|\[\]\.metadata_schema|vector\.embeddings)\..*", re.DOTALL)
_LONGEST_SHOWN = 100  # characters
_LEVELS: tuple[str, ...] = get_args(AccessLevel)  # from the lowest


class Change(DeferredModel):
    """A difference at a path such as `Memory.short_term.segments[conversation].max_tokens`.

    `before` and `after` are as in the document; None where there is no value.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    kind: Literal["added", "removed", "changed"]
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        """The change as people read it, on one line."""
        if self.kind == "added":
            return f"+ {self.path}: {_shown(self.after)}"
        if self.kind == "removed":
            return f"- {self.path}: {_shown(self.before)}"
        return f"~ {self.path}: {_shown(self.before)} → {_shown(self.after)}"


def differences(before: MemoryContract, after: MemoryContract) -> tuple[Change, ...]:
    """What differs, in the order of the document."""
    return tuple(_compare(before.Memory, after.Memory, "Memory"))


def consequences(before: MemoryContract, after: MemoryContract) -> tuple[str, ...]:
    """What the new version drops, or refuses from then on, in sentences; of a section that is disabled, only that.

    A section that was disabled before had nothing that could be dropped.
    """
    sentences: list[str] = []
    for change in differences(before, after):
        _, section, name = change.path.split(".", 2)
        if not getattr(before.Memory, section).enabled:
            continue
        if name == "enabled" or getattr(after.Memory, section).enabled:
            sentences += _sentences(change)
    kept = after.Memory.long_term.remote_schemas
    for schema_id, backend in before.Memory.long_term.remote_schemas.items():
        if schema_id not in kept or kept[schema_id].place != backend.place:
            left = _read_sentences()["left"]["long_term.remote_schemas"]
            sentences.append(left.format(id=schema_id, before=backend.backend_id))
    return tuple(dict.fromkeys(sentences))


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _compare(before: Any, after: Any, path: str) -> Iterator[Change]:
    was, is_ = _members(before), _members(after)
    if was is not None and is_ is not None:
        step = "[{}]" if isinstance(before, tuple) else ".{}"
        for name in dict.fromkeys((*was, *is_)):
            inside = path + step.format(name)
            yield from _compare(was.get(name, _ABSENT), is_.get(name, _ABSENT), inside)
    elif before is _ABSENT:
        yield Change(path=path, kind="added", after=_plain(after))
    elif after is _ABSENT:
        yield Change(path=path, kind="removed", before=_plain(before))
    elif canonical_json(_plain(before)) != canonical_json(_plain(after)):  # 1 is not true
        yield Change(path=path, kind="changed", before=_plain(before), after=_plain(after))


def _members(value: Any) -> Mapping[str, Any] | None:
    """The members of a part, an object or a list of parts, by their names or ids; None of a plain value."""
    if isinstance(value, Part):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, tuple) and all(isinstance(item, ListedPart) for item in value):
        return {item.list_id: item for item in value}
    return value if isinstance(value, dict) else None


def _plain(value: Any) -> Any:
    if isinstance(value, Part):
        return value.model_dump(mode="json")
    return [*value] if isinstance(value, tuple) else value


def _sentences(change: Change) -> Iterator[str]:
    ids, path = _IDS.findall(change.path), _IDS.sub("[]", change.path.removeprefix("Memory."))
    path = _WHOLE.sub(r"\1", path)
    for kind, sentences in _read_sentences().items():
        if path in sentences and _APPLIES[kind](change):
            values = {"before": change.before, "after": change.after}
            lost = ", ".join(_lost(change)) if kind == "narrowed" else ""
            yield sentences[path].format(id=ids[0] if ids else "", lost=lost, **values)


def _read_sentences() -> dict[str, dict[str, str]]:
    lists: dict[str, Any] = read_word_lists(_SENTENCES, dict[str, dict[str, str]])
    sentences: dict[str, dict[str, str]] = lists["en"]
    return sentences


def _lost(change: Change) -> Iterator[str]:
    """What is in the list before and not after; a pattern after has those that it matches as texts, also patterns."""
    for one in change.before:
        if not any(matches(other, one) for other in change.after):
            yield one


def _is_lowered(change: Change) -> bool:
    return _rank(change.after) < _rank(change.before)


def _rank(value: Any) -> int:
    return _LEVELS.index(value) if value in _LEVELS else int(value)


def _is_shortened(change: Change) -> bool:
    """Whether a time to live is shorter; 0 days and `persistent` are forever."""
    if isinstance(change.before, str):
        return change.before == "persistent"
    return change.after != 0 and (change.before == 0 or _is_lowered(change))


_APPLIES: dict[str, Callable[[Change], bool]] = {
    "disabled": lambda change: change.after is False,
    "removed": lambda change: change.kind == "removed",
    "lowered": _is_lowered,
    "shortened": _is_shortened,
    "narrowed": lambda change: any(_lost(change)),
    "changed": lambda _: True,
}
