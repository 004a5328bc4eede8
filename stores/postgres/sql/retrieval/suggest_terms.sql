-- Candidates for the correction of misspelt words, a row for each word: names with the same first letter, and lexemes that
-- begin with the word or, if there are none, are about as long. Python compares them letter by letter.
-- Most collations sort words that begin with an English letter before the next letter. Words that begin with another letter
-- sort before the next code point only where capitals precede small letters; elsewhere they may be anywhere after.
SELECT 'name' AS kind, a.word, found.terms, CAST(NULL AS integer[]) AS entries
  FROM unnest(CAST(%(names)s AS text[]), CAST(%(name_first)s AS text[]), CAST(%(name_next)s AS text[]),
              CAST(%(name_is_english)s AS boolean[]), CAST(%(name_longest)s AS integer[]))
    AS a (word, first, next, is_english, longest)
 CROSS JOIN LATERAL (
    SELECT array_agg(DISTINCT term) AS terms
      FROM unnest(ARRAY['subject', 'alias']) AS k (kind)
     CROSS JOIN LATERAL (
        SELECT CASE WHEN a.is_english OR 'Z' < 'a' THEN a.next
                    ELSE (SELECT max(term) FROM mnestic.entry_term
                           WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = k.kind) END AS last
     ) AS bound
     CROSS JOIN LATERAL (
        -- In steps of 20 index rows, each from the last name of the step before, however many entries a name has.
        WITH RECURSIVE stride AS (
            SELECT a.first AS last, CAST(NULL AS text[]) AS terms
             UNION ALL
            SELECT next.last, next.terms FROM stride CROSS JOIN LATERAL (
                SELECT max(term) AS last, array_agg(term) AS terms FROM (
                    SELECT term FROM mnestic.entry_term
                     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = k.kind
                       AND term > stride.last AND term <= bound.last
                     ORDER BY term LIMIT 20
                ) AS rows_from_there
            ) AS next WHERE next.last IS NOT NULL
        )
        SELECT unnest(terms) AS term FROM stride
     ) AS each
     WHERE starts_with(term, left(a.word, 1)) AND length(term) <= a.longest
 ) AS found
 UNION ALL
SELECT 'lexeme', a.word, found.terms, found.entries
  FROM unnest(CAST(%(lexemes)s AS text[]), CAST(%(lexeme_first)s AS text[]), CAST(%(lexeme_next)s AS text[]),
              CAST(%(lexeme_is_english)s AS boolean[]), CAST(%(lexeme_slips)s AS integer[]))
    AS a (word, first, next, is_english, slips)
 CROSS JOIN LATERAL (
    SELECT CASE WHEN a.is_english OR 'Z' < 'a' THEN a.next
                ELSE (SELECT max(lexeme) FROM mnestic.posting
                       WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s) END AS last
 ) AS bound
 CROSS JOIN LATERAL (
    WITH near AS MATERIALIZED (
        SELECT lexeme, sum(cardinality(postings)) AS entries, starts_with(lexeme, a.word) AS is_begun
          FROM mnestic.posting
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND lexeme >= a.first AND lexeme <= bound.last
           AND starts_with(lexeme, left(a.word, 1))
           AND (starts_with(lexeme, a.word)
                OR length(lexeme) BETWEEN greatest(4, length(a.word) - a.slips) AND length(a.word) + a.slips)
         GROUP BY lexeme
    )
    SELECT array_agg(lexeme) AS terms, array_agg(entries) AS entries FROM (
        (SELECT lexeme, entries FROM near WHERE is_begun ORDER BY length(lexeme), lexeme COLLATE "C" LIMIT 3)
         UNION ALL
        SELECT lexeme, entries FROM near WHERE NOT EXISTS (SELECT FROM near WHERE is_begun)
    ) AS either
 ) AS found
