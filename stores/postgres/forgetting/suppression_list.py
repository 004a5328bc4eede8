"""The suppression list in Postgres: tombstones of forgettings with keyed hashes, and what they keep out of a transaction's texts."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from mnestic.memory.errors import ConfigurationError, KeptOutError, NotFoundError
from mnestic.memory.forgetting.requests import Suppression
from mnestic.memory.forgetting.suppression_list import (
    ExcludedNames,
    SuppressionKey,
    SuppressionSecrets,
    excluded_names,
    kept_topic,
)
from mnestic.memory.forgetting.topic_names import content_name, parse_topic
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.language.terms import words_of
from mnestic.stores.postgres.connections import Rows
from mnestic.stores.postgres.forgetting.requests import PostgresForgettingStore
from mnestic.stores.postgres.queries import as_json, read_query
from mnestic.stores.postgres.stored import read_stored
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_LOAD, _LIST = read_query("suppression_list.load"), read_query("suppression_list.list")
_ADD, _LIFT = read_query("suppression_list.add"), read_query("suppression_list.lift")


class _Kept(NamedTuple):
    id: str
    at: Any
    names: ExcludedNames


class PostgresSuppressionListStore:
    """Implements `mnestic.memory.forgetting.ports.SuppressionListStore`."""

    def __init__(
        self,
        unit: UnitOfWork,
        forgetting: PostgresForgettingStore,
        *,
        secrets: SuppressionSecrets | None,
    ) -> None:
        self._unit, self._forgetting, self._secrets = unit, forgetting, secrets
        self._kept: tuple[_Kept, ...] | None = None
        self._loading: Rows | None = None
        self._key: SuppressionKey | None = None

    async def add(self, forgetting_id: str, topic: str) -> None:
        """See the port."""
        names = parse_topic(topic)
        stems = await self._forgetting.stems({word for name in names for word in name.words})
        if self._secrets is None:
            raise _no_key("there is nowhere to find it")
        key = SuppressionKey(self._secrets.find_or_make(), tenant_id=self._unit.tenant_id)
        kept = excluded_names([content_name(name, stems) for name in names], stems=stems, key=key)
        for other in await self._load():
            self._check_key(other, key)
        kept_out = as_json(kept.model_dump(mode="json"))
        await self._unit.write(_ADD, id=forgetting_id, kept_out=kept_out)
        self._unit.wrote("keep_out.add", forgetting_id)
        self._kept = None

    def load_ahead(self) -> None:
        """See the port."""
        if self._kept is None:
            self._send_ahead()

    async def list_suppressed(self) -> tuple[Suppression, ...]:
        """See the port."""
        rows = await self._unit.fetch(_LIST)
        self._unit.read("keep_out.list", f"{len(rows)} keep-outs")
        return tuple(map(_keep_out, rows))

    async def lift(self, forgetting_id: str) -> None:
        """See the port."""
        if not await self._unit.write(_LIFT, id=forgetting_id):
            raise NotFoundError(what="keep-out", name=forgetting_id)
        self._unit.wrote("keep_out.lift", forgetting_id)
        self._kept = None

    async def left_of(self, texts: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """See the port."""
        topics = [(one, topic) for one, topic in zip(texts, await self._topics(texts), strict=True)]
        return tuple(one[0] if topic is None else _left(one, topic[1]) for one, topic in topics)

    async def check(self, *texts: str, what: str) -> None:
        """See the port."""
        (found,) = await self._topics([texts])
        if found is not None:
            kept, _ = found
            raise KeptOutError(what=what, keep_out_id=kept.id, since=kept.at)

    async def are_kept_out(self, texts: Sequence[Sequence[str]]) -> tuple[bool, ...]:
        """See the port."""
        return tuple(found is not None for found in await self._topics(texts))

    async def _topics(self, texts: Sequence[Sequence[str]]) -> list[tuple[_Kept, Topic] | None]:
        """What of each text, with what belongs to it, is kept out, and by which tombstone."""
        kept = await self._load()
        if not kept or not texts:
            return [None] * len(texts)
        key = self._key_of(kept)
        whole = ["\n".join(one) for one in texts]
        words = {word for text in whole for word in words_of(text)}
        stems = await self._forgetting.stems(words)
        return [self._first(text, kept, stems=stems, key=key) for text in whole]

    def _first(
        self, text: str, kept: Sequence[_Kept], *, stems: Any, key: SuppressionKey
    ) -> tuple[_Kept, Topic] | None:
        """The first tombstone that a text speaks of, with all that is kept out of the text."""
        topic = kept_topic(text, [one.names for one in kept], stems=stems, key=key)
        if topic is None:
            return None
        first = next(one for one in kept if kept_topic(text, [one.names], stems=stems, key=key))
        return first, topic

    async def _load(self) -> tuple[_Kept, ...]:
        if self._kept is None:
            rows = self._send_ahead()
            await self._unit.until_sent(rows)
            self._loading = None
            self._kept = tuple(
                _Kept(
                    row.id,
                    row.requested_at,
                    read_stored(ExcludedNames, row.kept_out, what=f"keep-out {row.id}"),
                )
                for row in rows
            )
        return self._kept

    def _send_ahead(self) -> Rows:
        """The rows of the keep-outs, which a round trip fills."""
        if self._loading is None:
            self._loading = self._unit.send_ahead(_LOAD.bind(self._unit.owner))
        return self._loading

    def _key_of(self, kept: Sequence[_Kept]) -> SuppressionKey:
        if self._key is None:
            secret = self._secrets.find() if self._secrets is not None else None
            if secret is None:
                raise _no_key(f"keep-out {kept[0].id} of this agent was made with one")
            self._key = SuppressionKey(secret, tenant_id=self._unit.tenant_id)
        for one in kept:
            self._check_key(one, self._key)
        return self._key

    def _check_key(self, kept: _Kept, key: SuppressionKey) -> None:
        if kept.names.key_id != key.id:
            why = f"is another key than the one of keep-out {kept.id}"
            raise ConfigurationError(setting="MNESTIC_KEEP_OUT_KEY", why=f"{why}; {_HOW}")


_HOW = "set the same one in each process that writes, or lift it: mnestic memory keep-outs lift"


def _no_key(why: str) -> ConfigurationError:
    return ConfigurationError(setting="MNESTIC_KEEP_OUT_KEY", why=f"is needed: {why}; {_HOW}")


def _left(texts: Sequence[str], topic: Topic) -> str:
    """What is left of the first of some texts; nothing if the others, or what is left, speak of the topic still."""
    content, *others = texts
    left = topic.cut(content).left
    names_it = any(topic.is_in(other) for other in others)
    return "" if names_it or topic.is_in(left) else left


def _keep_out(row: Any) -> Suppression:
    names = read_stored(ExcludedNames, row.kept_out, what=f"keep-out {row.id}")
    return Suppression(
        id=row.id,
        actor=row.actor,
        requested_at=row.requested_at,
        finished_at=row.finished_at,
        name_count=len(names.names),
        key_id=names.key_id,
    )
