"""What Postgres tells of the names and words of a question, and what is known of it by that.

It stands apart from looking for what is misspelt, since what is told here is kept for other questions.
"""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from sqlalchemy import text

from mnestic.memory.asked_languages import LANGUAGE
from mnestic.memory.claims import name_key
from mnestic.memory.predicates import NAMING
from mnestic.memory.search import Known, KnownLexeme, KnownName
from mnestic.stores.postgres.kept_known import Told
from mnestic.stores.postgres.unit import NOTHING, Unit

_MINE = "tenant_id = :tenant_id AND agent_id = :agent_id"
_LOOKED_AT = 20  # entries about somebody, for whether one of them is theirs
# An alias is another name of the one that an entry is about. Who has spoken is found among the last entries about them, since who says something is whom it is about
# unless it says otherwise. Tags and aliases are told once more, without a key.
_HAS = f"""COALESCE((SELECT true FROM mnestic.entry_term
                       WHERE {_MINE} AND kind = '{{kind}}' AND term = asked.term LIMIT 1), false)"""  # noqa: S608 - a constant of this module
_NAMES = text(f"""
WITH known AS MATERIALIZED (
    SELECT term, {_HAS.format(kind="subject")} AS is_subject, {_HAS.format(kind="alias")} AS is_alias,
           {_HAS.format(kind="tag")} AS is_tag
      FROM unnest(CAST(:keys AS text[])) AS asked (term)
)
SELECT term AS asked, term AS key, ARRAY(
       SELECT DISTINCT e.speaker
         FROM (SELECT entry_number FROM mnestic.entry_term
                WHERE {_MINE} AND kind = 'subject' AND term = known.term
                ORDER BY entry_number DESC LIMIT {_LOOKED_AT}) AS about
         JOIN mnestic.entry AS e ON e.tenant_id = :tenant_id AND e.agent_id = :agent_id
          AND e.number = about.entry_number
        WHERE e.entry_type = 'interaction' AND e.speaker IS NOT NULL) AS speakers
  FROM known
 WHERE CASE WHEN is_subject OR is_alias THEN true
            ELSE COALESCE((SELECT true FROM mnestic.fact WHERE {_MINE} AND subject_key = term LIMIT 1), false) END
UNION ALL
SELECT object_key, subject_key, ARRAY[]::text[] FROM mnestic.fact
 WHERE {_MINE} AND object_key = ANY(CAST(:keys AS text[])) AND status = 'active'
   AND predicate IN {NAMING}
UNION ALL
SELECT known.term, e.subjects ->> 0, NULL
  FROM known
 CROSS JOIN LATERAL (SELECT entry_number AS number FROM mnestic.entry_term
                      WHERE {_MINE} AND kind = 'alias' AND term = known.term
                      ORDER BY entry_number DESC LIMIT {_LOOKED_AT}) AS named
 CROSS JOIN LATERAL (SELECT subjects FROM mnestic.entry
                      WHERE {_MINE} AND number = named.number AND status = 'active'
                        AND jsonb_array_length(subjects) = 1 OFFSET 0) AS e
 WHERE known.is_alias
UNION ALL
SELECT term, NULL, NULL FROM known WHERE is_alias OR is_tag
""")  # noqa: S608 - constants of this module
# Of what a question says in one place, a word is another in each language.
_WORDS = text(f"""
SELECT w.word, x.positions[1] AS part, g.language, x.lexeme, COALESCE(l.entries, 0) AS entries
  FROM unnest(CAST(:words AS text[])) AS w (word)
 CROSS JOIN (SELECT unnest(languages) FROM mnestic.corpus WHERE {_MINE}
             UNION SELECT '{LANGUAGE}') AS g (language)
 CROSS JOIN unnest(to_tsvector(CAST(g.language AS regconfig), mnestic.words_apart(w.word))) AS x
  LEFT JOIN mnestic.lexeme AS l
    ON l.tenant_id = :tenant_id AND l.agent_id = :agent_id AND l.lexeme = x.lexeme
 ORDER BY w.word, part
""")  # noqa: S608
# How much there is, how often what searches read has changed, and when some of it next ends by itself. From here
# on plans are kept: a search's statements are small, and planning them anew takes a quarter of its time.
_STATE = text(f"""
SELECT set_config('plan_cache_mode', 'force_generic_plan', true) AS planned, now() AS now,
       COALESCE((SELECT knowledge FROM mnestic.agent_revision WHERE {_MINE}), 0) AS knowledge,
       LEAST((SELECT min(expires_at) FROM mnestic.entry WHERE {_MINE} AND expires_at > now()),
             (SELECT min(valid_to) FROM mnestic.fact
               WHERE {_MINE} AND status = 'active' AND valid_to > now())) AS ends_at,
       (SELECT jsonb_object_agg(name, value) FROM mnestic.setting WHERE {_MINE}) AS settings,
       c.entries, c.lexemes, c.languages, c.entries - COALESCE(m.entries, 0) AS bare
  FROM (SELECT) AS always
  LEFT JOIN mnestic.corpus AS c ON c.tenant_id = :tenant_id AND c.agent_id = :agent_id
  LEFT JOIN mnestic.embedding_model AS m
    ON m.tenant_id = c.tenant_id AND m.agent_id = c.agent_id AND m.model = :model
""")  # noqa: S608


async def tell(
    unit: Unit, names: Collection[str], words: Collection[str], *, model: str, is_last: bool = False
) -> Told:
    """What Postgres tells of names by key, and of words; `is_last` as of `Unit.rows_of`."""
    owner = unit.owner
    (state,), terms, lexemes = await unit.rows_of(
        (_STATE, {**owner, "model": model}),  # first: what is read after it is as true, or more
        (_NAMES, {**owner, "keys": sorted(names)}) if names else NOTHING,
        (_WORDS, {**owner, "words": sorted(words)}) if words else NOTHING,
        is_last=is_last,
    )
    of_names: dict[str, list[Any]] = {name: [] for name in names}
    of_words: dict[str, list[Any]] = {word: [] for word in words}
    for row in terms:
        of_names[row.asked].append(row)
    for row in lexemes:
        of_words[row.word].append(row)
    return Told(state.knowledge, of_names, of_words, state)


def known_of(told: Told, keys: Collection[str], tags: Collection[str]) -> Known:
    """See `mnestic.memory.ports.SearchStore.recognise`."""
    also: dict[str, set[str]] = defaultdict(set)
    called: dict[str, set[str]] = defaultdict(set)
    terms = [row for name in sorted(told.names) for row in told.names[name]]
    tagging = frozenset(row.asked for row in terms if row.key is None)
    names = [row for row in terms if row.key is not None and row.asked in keys]
    for row in names:
        (called if row.speakers is None else also)[row.asked].add(name_key(row.key))
        also[row.asked].add(row.asked)
    for alias, named in called.items():
        if len(named) == 1:  # else it is nobody's own
            also[alias] |= named
    speaks = {row.asked for row in names if row.asked in map(name_key, row.speakers or ())}
    of_words: dict[str, list[dict[str, KnownLexeme]]] = {}
    for word in sorted(told.words):
        parts: dict[int, dict[str, KnownLexeme]] = defaultdict(dict)
        for row in told.words[word]:
            parts[row.part][row.language] = KnownLexeme(row.lexeme, row.entries)
        if parts:
            of_words[word] = [*parts.values()]
    state = told.state
    return Known(
        names={
            asked: KnownName(keys=frozenset(found), speaks=asked in speaks)
            for asked, found in also.items()
        },
        words=of_words,
        tags=tagging.intersection(tags),
        settings=state.settings or {},
        languages=state.languages or (),
        entries=state.entries or 0,
        lexemes=state.lexemes or 0,
        bare=state.bare or 0,
        now=state.now,
        knowledge=state.knowledge,
        ends_at=state.ends_at,
    )
