-- The entries of a lexeme are lists, not a row for each: a posting took 85 bytes in the table and 100 in its index, and takes 8.
-- How many entries have a lexeme is the length of its lists.
ALTER TABLE mnestic.posting RENAME TO single_posting;
ALTER TABLE mnestic.single_posting RENAME CONSTRAINT posting_pkey TO single_posting_pkey;
ALTER TABLE mnestic.single_posting NO FORCE ROW LEVEL SECURITY; -- else the owner sees no row
-- A list holds the entries from its first number on, up to that of the next list. `postings` are in the order of their numbers.
CREATE TABLE mnestic.posting (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    lexeme text NOT NULL,
    audience integer NOT NULL DEFAULT mnestic.own_audience(),
    first_number bigint NOT NULL,
    postings bigint[] NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, lexeme, audience, first_number)
);
-- A posting is the number of an entry, how often it has the lexeme, and its length in lexemes.
CREATE FUNCTION mnestic.pack_posting(entry_number bigint, frequency integer, length integer) RETURNS bigint
    IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT (entry_number << 28) | (least(frequency, 4095)::bigint << 16) | least(length, 65535)
$$;
CREATE FUNCTION mnestic.unpack_postings(postings bigint[])
    RETURNS TABLE (entry_number bigint, frequency integer, length integer) IMMUTABLE PARALLEL SAFE ROWS 30 LANGUAGE sql AS $$
    SELECT one >> 28, CAST((one >> 16) & 4095 AS integer), CAST(one & 65535 AS integer) FROM unnest(postings) AS one
$$;
INSERT INTO mnestic.posting (tenant_id, agent_id, lexeme, audience, first_number, postings)
SELECT tenant_id, agent_id, lexeme, audience, min(entry_number),
       array_agg(mnestic.pack_posting(entry_number, frequency, length) ORDER BY entry_number)
  FROM (SELECT *, (row_number() OVER (PARTITION BY tenant_id, agent_id, lexeme, audience ORDER BY entry_number) - 1) / 64 AS list
          FROM mnestic.single_posting) AS p
 GROUP BY tenant_id, agent_id, lexeme, audience, list;
DROP TABLE mnestic.single_posting, mnestic.lexeme;
GRANT SELECT, INSERT, UPDATE, DELETE ON mnestic.posting TO mnestic_app;
ALTER TABLE mnestic.posting ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY, ALTER COLUMN tenant_id SET (n_distinct = 10),
    ALTER COLUMN agent_id SET (n_distinct = 10);
CREATE POLICY tenant ON mnestic.posting
    USING (tenant_id = current_setting('mnestic.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
CREATE POLICY readers ON mnestic.posting AS RESTRICTIVE USING (
    (SELECT strpos(current_setting('mnestic.audiences', true), '{')) IS DISTINCT FROM 1
    OR audience = ANY (CAST((SELECT current_setting('mnestic.audiences', true)) AS integer[])));

-- The words of entries, as they are stored, each with the list that has or would have it: the last that begins up to its number.
-- Whoever writes lists has locked the row of `corpus`. The functions below read them after that, since their snapshot is their own.
CREATE FUNCTION mnestic.list_words(of_tenant text, of_agent text, numbers bigint[])
    RETURNS TABLE (lexeme text, audience integer, number bigint, posting bigint, first_number bigint, size integer, last bigint)
    STABLE LANGUAGE sql AS $$
    SELECT w.lexeme, e.audience, e.number, mnestic.pack_posting(e.number, cardinality(w.positions), e.lexemes),
           list.first_number, cardinality(list.postings), list.postings[cardinality(list.postings)]
      FROM mnestic.entry AS e
     CROSS JOIN unnest(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(e.content))) AS w
      LEFT JOIN LATERAL (
        SELECT p.first_number, p.postings FROM mnestic.posting AS p
         WHERE p.tenant_id = of_tenant AND p.agent_id = of_agent AND p.lexeme = w.lexeme AND p.audience = e.audience
           AND p.first_number <= e.number
         ORDER BY p.first_number DESC LIMIT 1) AS list ON true
     WHERE e.tenant_id = of_tenant AND e.agent_id = of_agent AND e.number = ANY (numbers)
$$;
-- Enters entries into full text search. A list that has 64 gets only what lies between its own; what comes after it begins the next.
CREATE FUNCTION mnestic.enter_words(of_tenant text, of_agent text, numbers bigint[]) RETURNS void VOLATILE LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mnestic.posting AS p (tenant_id, agent_id, lexeme, audience, first_number, postings)
    SELECT of_tenant, of_agent, w.lexeme, w.audience,
           CASE WHEN w.list = 0 AND w.first_number IS NOT NULL THEN w.first_number ELSE min(w.number) END,
           array_agg(w.posting ORDER BY w.posting)
      FROM (SELECT *, CASE WHEN posting < last THEN 0
                           ELSE (COALESCE(size, 0) + row_number() OVER (
                                    PARTITION BY lexeme, audience, first_number ORDER BY number) - 1) / 64 END AS list
              FROM mnestic.list_words(of_tenant, of_agent, numbers)) AS w
     GROUP BY w.lexeme, w.audience, w.first_number, w.list
    ON CONFLICT (tenant_id, agent_id, lexeme, audience, first_number) DO UPDATE
       SET postings = CASE WHEN p.postings[cardinality(p.postings)] < excluded.postings[1] THEN p.postings || excluded.postings
                           ELSE ARRAY(SELECT unnest(p.postings || excluded.postings) ORDER BY 1) END;
END $$;
-- Takes entries out of full text search. A list that is empty then goes.
CREATE FUNCTION mnestic.remove_words(of_tenant text, of_agent text, numbers bigint[]) RETURNS void VOLATILE LANGUAGE plpgsql AS $$
BEGIN
    WITH list AS MATERIALIZED (
        SELECT p.lexeme, p.audience, p.first_number,
               ARRAY(SELECT one FROM unnest(p.postings) AS one WHERE one >> 28 <> ALL (w.numbers) ORDER BY 1) AS rest
          FROM (SELECT lexeme, audience, first_number, array_agg(number) AS numbers
                  FROM mnestic.list_words(of_tenant, of_agent, remove_words.numbers)
                 GROUP BY lexeme, audience, first_number) AS w
         CROSS JOIN LATERAL (
            SELECT * FROM mnestic.posting AS p
             WHERE p.tenant_id = of_tenant AND p.agent_id = of_agent AND p.lexeme = w.lexeme AND p.audience = w.audience
               AND p.first_number = w.first_number OFFSET 0) AS p
    ), emptied AS (
        DELETE FROM mnestic.posting AS p USING list AS l
         WHERE p.tenant_id = of_tenant AND p.agent_id = of_agent AND p.lexeme = l.lexeme AND p.audience = l.audience
           AND p.first_number = l.first_number AND l.rest = '{}'
    )
    UPDATE mnestic.posting AS p SET postings = l.rest
      FROM list AS l
     WHERE p.tenant_id = of_tenant AND p.agent_id = of_agent AND p.lexeme = l.lexeme AND p.audience = l.audience
       AND p.first_number = l.first_number AND l.rest <> '{}' AND l.rest <> p.postings;
END $$;
