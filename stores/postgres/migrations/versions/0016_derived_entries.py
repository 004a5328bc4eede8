"""Derived entries: facts that no message states, and episodes, in the index that finds messages.

The sentences of facts are those of memory when this migration was written, copied: memory's own may change, this may not.

Revision ID: 0016
Revises: 0015
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_TABLES = (
    *("entry", "entry_term", "posting", "lexeme", "corpus"),
    *("fact", "claim", "episode", "setting", "agent_revision"),
)
_NOUNS = (
    "age birthday diet full_name gender height nationality favourite_animal favourite_artist "
    "favourite_author favourite_band favourite_book favourite_city favourite_colour favourite_drink "
    "favourite_film favourite_food favourite_game favourite_music favourite_place favourite_season "
    "favourite_song favourite_sport favourite_subject preferred_language partner relationship_status "
    "salary school team_leader capital price status version nickname pet hobby aunt_or_uncle child "
    "colleague cousin friend grandchild grandparent neighbour niece_or_nephew parent sibling "
)  # Kim's hobby is chess
_FORMS = {
    "born_in": "{subject} was born in {object}",
    "email": "{subject}'s email address is {object}",
    "floor": "{subject} lives on the floor {object}",
    "home_type": "{subject}'s home is {object}",
    "phone": "{subject}'s phone number is {object}",
    "pronouns": "{subject}'s pronouns are {object}",
    "status_of_health": "{subject}'s health: {object}",
    "timezone": "{subject}'s time zone is {object}",
    "preferred_name": "{subject} prefers to be called {object}",
    "engaged_to": "{subject} is engaged to {object}",
    "married_to": "{subject} is married to {object}",
    "employer": "{subject} works at {object}",
    "job_title": "{subject}'s job is {object}",
    "due_date": "{subject} is due on {object}",
    "travel_date": "{subject} travels on {object}",
    "wedding_date": "{subject}'s wedding is on {object}",
    "allergic_to": "{subject} is allergic to {object}",
    "also_known_as": "{subject} is also known as {object}",
    "languages_spoken": "{subject} speaks {object}",
    "member_of": "{subject} is a member of {object}",
    "skill": "{subject} is skilled in {object}",
    "habit_of": "{subject} has a habit: {object}",
    "in_law": "{subject}'s in-law is {object}",
    "responsible_for": "{subject} is responsible for {object}",
    "is_a": "{subject} is {object}",
    "located_in": "{subject} is located in {object}",
    "part_of": "{subject} is part of {object}",
    "said": "{subject} said: {object}",
}
# The default of a column rewrites no row, and a message is what nearly all entries are.
COLUMN = """
ALTER TABLE mnestic.entry ADD COLUMN kind text NOT NULL DEFAULT 'message';
ALTER TABLE mnestic.entry ADD CONSTRAINT entry_kind CHECK (kind IN ('message', 'fact', 'episode'));
CREATE INDEX entry_derived ON mnestic.entry (tenant_id, agent_id, kind) WHERE kind <> 'message';
"""
FACTS = sa.text("""
INSERT INTO mnestic.entry
       (tenant_id, agent_id, id, kind, entry_type, status, content, summary, subjects, keywords, tags, aliases, times, related,
        importance, critical, access_count, language, at, created_at, updated_at, expires_at, features)
SELECT f.tenant_id, f.agent_id, f.id, 'fact', 'knowledge', 'active', said.text, left(said.text, 200), jsonb_build_array(f.subject),
       '[]', jsonb_build_array(f.category),
       CASE WHEN f.predicate IN ('also_known_as', 'full_name', 'nickname', 'preferred_name')
            THEN jsonb_build_array(f.object) ELSE '[]' END,
       '[]', '[]', 0.5, false, 0,
       COALESCE((SELECT value #>> '{}' FROM mnestic.setting AS s
                  WHERE s.tenant_id = f.tenant_id AND s.agent_id = f.agent_id AND s.name = 'language'), 'english'),
       f.valid_from, now(), now(), f.valid_to, 0
  FROM mnestic.fact AS f
 CROSS JOIN LATERAL (
       SELECT COALESCE(CAST(:forms AS jsonb) ->> f.predicate,
                       '{subject} ' || replace(f.predicate, '_', ' ') || ' {object}') AS text) AS form
 CROSS JOIN LATERAL (
       SELECT split_part(form.text, '{object}', 1) AS before, split_part(form.text, '{object}', 2) AS after) AS part
 CROSS JOIN LATERAL (
       SELECT replace(part.before, '{subject}', f.subject) || f.object || part.after
              || CASE WHEN (f.valid_from AT TIME ZONE 'UTC')::date > (now() AT TIME ZONE 'UTC')::date
                      THEN to_char(f.valid_from AT TIME ZONE 'UTC', '" from "YYYY-MM-DD') ELSE '' END
              || COALESCE(to_char(f.valid_to AT TIME ZONE 'UTC', '" until "YYYY-MM-DD'), '') AS words) AS sentence
 CROSS JOIN LATERAL (
       SELECT sentence.words || CASE WHEN right(sentence.words, 1) IN ('.', '!', '?', '\u2026', '\u3002')
                                     THEN '' ELSE '.' END AS text) AS said
 WHERE f.status = 'active' AND NOT EXISTS (
       SELECT FROM jsonb_array_elements_text(f.claims) AS claimed (id)
         JOIN mnestic.claim AS c ON c.tenant_id = f.tenant_id AND c.agent_id = f.agent_id AND c.id = claimed.id
          AND c.kind IN ('affirmed', 'corrected')
         JOIN mnestic.entry AS e ON e.tenant_id = f.tenant_id AND e.agent_id = f.agent_id
          AND e.session_id = c.session_id AND e.at = c.said_at AND e.source_id = c.source_id)
ON CONFLICT DO NOTHING
""")
EPISODES = """
INSERT INTO mnestic.entry
       (tenant_id, agent_id, id, kind, entry_type, status, content, summary, session_id, subjects, keywords, tags, aliases,
        times, related, importance, critical, access_count, language, at, created_at, updated_at, features)
SELECT tenant_id, agent_id, id, 'episode', 'context', 'active', left(btrim(summary), 10000), left(btrim(summary), 200), session_id,
       '[]', '[]', '[]', '[]', '[]', '[]', 0.5, false, 0,
       COALESCE((SELECT value #>> '{}' FROM mnestic.setting AS s
                  WHERE s.tenant_id = e.tenant_id AND s.agent_id = e.agent_id AND s.name = 'language'), 'english'),
       created_at, now(), now(), 0
  FROM mnestic.episode AS e WHERE btrim(summary) <> ''
ON CONFLICT DO NOTHING
"""
# Words and names, as entries of today get them. Vectors are missing by what `corpus` counts, and are made as those of messages.
INDEX = """
INSERT INTO mnestic.entry_term (tenant_id, agent_id, kind, term, entry_number)
SELECT e.tenant_id, e.agent_id, t.kind, t.term, e.number
  FROM mnestic.entry AS e
  JOIN mnestic.fact AS f ON f.tenant_id = e.tenant_id AND f.agent_id = e.agent_id AND f.id = e.id
 CROSS JOIN LATERAL (VALUES ('subject', f.subject_key), ('tag', f.category),
                            ('alias', CASE WHEN e.aliases <> '[]' THEN f.object_key END)) AS t (kind, term)
 WHERE e.kind = 'fact' AND t.term IS NOT NULL;
INSERT INTO mnestic.posting (tenant_id, agent_id, lexeme, entry_number, frequency, length)
SELECT e.tenant_id, e.agent_id, w.lexeme, e.number, least(cardinality(w.positions), 32767), e.lexemes
  FROM mnestic.entry AS e, unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content))) AS w
 WHERE e.kind <> 'message';
INSERT INTO mnestic.lexeme AS l (tenant_id, agent_id, lexeme, entries)
SELECT e.tenant_id, e.agent_id, w.lexeme, count(*)
  FROM mnestic.entry AS e, unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content))) AS w
 WHERE e.kind <> 'message' GROUP BY 1, 2, 3
ON CONFLICT (tenant_id, agent_id, lexeme) DO UPDATE SET entries = l.entries + excluded.entries;
INSERT INTO mnestic.corpus AS c (tenant_id, agent_id, entries, lexemes, languages)
SELECT tenant_id, agent_id, count(*), sum(lexemes), array_agg(DISTINCT language) FROM mnestic.entry
 WHERE kind <> 'message' GROUP BY 1, 2
ON CONFLICT (tenant_id, agent_id)
DO UPDATE SET entries = c.entries + excluded.entries, lexemes = c.lexemes + excluded.lexemes,
              languages = ARRAY(SELECT unnest(c.languages) UNION SELECT unnest(excluded.languages) ORDER BY 1);
-- Answers that a process holds are of an older revision now.
UPDATE mnestic.agent_revision AS r SET knowledge_revision = r.knowledge_revision + 1
 WHERE EXISTS (SELECT FROM mnestic.entry AS e
                WHERE e.tenant_id = r.tenant_id AND e.agent_id = r.agent_id AND e.kind <> 'message');
"""


def upgrade() -> None:
    op.execute(COLUMN)
    for table in _TABLES:  # else their owner sees no row
        op.execute(f"ALTER TABLE mnestic.{table} NO FORCE ROW LEVEL SECURITY")
    nouns = {one: f"{{subject}}'s {one.replace('_', ' ')} is {{object}}" for one in _NOUNS.split()}
    op.get_bind().execute(FACTS, {"forms": json.dumps(nouns | _FORMS)})
    op.execute(EPISODES)
    op.execute(INDEX)
    for table in _TABLES:
        op.execute(f"ALTER TABLE mnestic.{table} FORCE ROW LEVEL SECURITY")
