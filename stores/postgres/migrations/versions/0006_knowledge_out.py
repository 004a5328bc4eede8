"""Knowledge out: words in any script, the languages of an agent's entries, what caches go by, what reranking took.

Revision ID: 0006
Revises: 0005
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# Of every script, and symbols; what is ASCII is known to the parser of each database.
_PUNCTUATION = (
    r"\u00a1-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7\u037e\u0387\u055a-\u055f\u0589"
    r"\u058a\u05be\u05c0\u05c3\u05f3\u05f4\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u0e2f\u0e4f"
    r"\u0e5a\u0e5b\u2000-\u206f\u20a0-\u20cf\u2120\u2122\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004"
    r"\u3008-\u3020\u3030\u303d\u30fb\ufe0e\ufe0f\ufe30-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40"
    r"\uff5b-\uff65\U0001f000-\U0001faff"
)
# Thai, Lao, Burmese, Khmer, Japanese and Chinese.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)

WORDS = rf"""
-- A text as full text search reads it. Whatever the database's locale takes for a letter, punctuation
-- parts words; and a run of a script without spaces is its pairs of characters: ABCD is AB BC CD.
CREATE FUNCTION mnestic.words_apart(content text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS $$
    SELECT CASE WHEN octet_length(content) = length(content) THEN content ELSE
        regexp_replace(
            regexp_replace(
                normalize(regexp_replace(content, '[{_PUNCTUATION}]+', ' ', 'g'), NFKC),
                '([{_UNSPACED}]+)', ' \1 ', 'g'),
            '(?<=[{_UNSPACED}])([{_UNSPACED}])(?=[{_UNSPACED}])', '\1 \1', 'g')
    END
$$;
CREATE OR REPLACE FUNCTION mnestic.count_lexemes(language text, content text) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS $$
    SELECT COALESCE(sum(cardinality(positions)), 0)::integer
      FROM unnest(to_tsvector(language::regconfig, mnestic.words_apart(content)))
$$;
"""  # noqa: S608 - constants of this module

LANGUAGES = """
-- In which languages an agent has entries: a question is read in each. Until now that was English alone.
ALTER TABLE mnestic.corpus ADD COLUMN languages text[] NOT NULL DEFAULT '{english}';
ALTER TABLE mnestic.corpus ALTER COLUMN languages DROP DEFAULT;
"""

_REINDEXED = ("entry", "posting", "lexeme", "corpus")
REINDEX = """
-- Entries whose words are others now.
CREATE TABLE mnestic.read_anew AS
SELECT tenant_id, agent_id, number FROM mnestic.entry
 WHERE octet_length(content) <> length(content) AND mnestic.words_apart(content) <> content;
WITH gone AS (
    DELETE FROM mnestic.posting AS p USING mnestic.read_anew AS a
     WHERE p.tenant_id = a.tenant_id AND p.agent_id = a.agent_id AND p.entry_number = a.number
    RETURNING p.tenant_id, p.agent_id, p.lexeme
)
UPDATE mnestic.lexeme AS l SET entries = l.entries - g.entries
  FROM (SELECT tenant_id, agent_id, lexeme, count(*) AS entries FROM gone GROUP BY 1, 2, 3) AS g
 WHERE l.tenant_id = g.tenant_id AND l.agent_id = g.agent_id AND l.lexeme = g.lexeme;
UPDATE mnestic.entry AS e SET language = e.language FROM mnestic.read_anew AS a  -- counts lexemes again
 WHERE e.tenant_id = a.tenant_id AND e.agent_id = a.agent_id AND e.number = a.number;
WITH posted AS (
    INSERT INTO mnestic.posting (tenant_id, agent_id, lexeme, entry_number, frequency, length)
    SELECT e.tenant_id, e.agent_id, w.lexeme, e.number, least(cardinality(w.positions), 32767), e.lexemes
      FROM mnestic.entry AS e
      JOIN mnestic.read_anew AS a
        ON e.tenant_id = a.tenant_id AND e.agent_id = a.agent_id AND e.number = a.number,
           unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content))) AS w
    RETURNING tenant_id, agent_id, lexeme
)
INSERT INTO mnestic.lexeme (tenant_id, agent_id, lexeme, entries)
SELECT tenant_id, agent_id, lexeme, count(*) FROM posted GROUP BY 1, 2, 3
ON CONFLICT (tenant_id, agent_id, lexeme)
DO UPDATE SET entries = mnestic.lexeme.entries + excluded.entries;
UPDATE mnestic.corpus AS c SET lexemes = e.lexemes
  FROM (SELECT tenant_id, agent_id, sum(lexemes) AS lexemes FROM mnestic.entry
         WHERE (tenant_id, agent_id) IN (SELECT tenant_id, agent_id FROM mnestic.read_anew)
         GROUP BY 1, 2) AS e
 WHERE c.tenant_id = e.tenant_id AND c.agent_id = e.agent_id;
DROP TABLE mnestic.read_anew;
"""

CACHES = """
-- How often what searches read has changed: what a process keeps of it is true for as long as this stays.
ALTER TABLE mnestic.agent_revision ADD COLUMN knowledge bigint NOT NULL DEFAULT 0;
-- When the next of what an agent knows ends by itself.
CREATE INDEX entry_expiring ON mnestic.entry (tenant_id, agent_id, expires_at)
    WHERE expires_at IS NOT NULL;
CREATE INDEX fact_ending ON mnestic.fact (tenant_id, agent_id, valid_to)
    WHERE status = 'active' AND valid_to IS NOT NULL;
"""

RERANKING = """
-- What some rerankers bill, instead of tokens.
ALTER TABLE mnestic.llm_usage ADD COLUMN search_units bigint NOT NULL DEFAULT 0;
"""


def upgrade() -> None:
    op.execute(WORDS)
    op.execute(LANGUAGES)
    for table in _REINDEXED:
        op.execute(
            f"ALTER TABLE mnestic.{table} NO FORCE ROW LEVEL SECURITY"
        )  # else its owner sees no row
    op.execute(REINDEX)
    for table in _REINDEXED:
        op.execute(f"ALTER TABLE mnestic.{table} FORCE ROW LEVEL SECURITY")
    op.execute(CACHES)
    op.execute(RERANKING)
