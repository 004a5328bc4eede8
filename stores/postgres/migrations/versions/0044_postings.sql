-- Enters entries into full text search. What comes after a list that has 64 begins the next. What lies between the postings of a list
-- goes into it; one that has more than 64 then is divided into equal ones, since each write of a list writes all of it.
CREATE OR REPLACE FUNCTION mnestic.enter_words(of_tenant text, of_agent text, numbers bigint[]) RETURNS void VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    long text[];
BEGIN
    WITH entered AS (
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
                               ELSE ARRAY(SELECT unnest(p.postings || excluded.postings) ORDER BY 1) END
        RETURNING p.lexeme, cardinality(p.postings) AS size
    )
    SELECT array_agg(lexeme) INTO long FROM entered WHERE size > 64;
    IF long IS NULL THEN
        RETURN;
    END IF;
    WITH divided AS (
        DELETE FROM mnestic.posting
         WHERE tenant_id = of_tenant AND agent_id = of_agent AND lexeme = ANY (long) AND cardinality(postings) > 64
        RETURNING lexeme, audience, first_number, postings
    )
    INSERT INTO mnestic.posting (tenant_id, agent_id, lexeme, audience, first_number, postings)
    SELECT of_tenant, of_agent, lexeme, audience, CASE part WHEN 1 THEN first_number ELSE min(posting) >> 28 END,
           array_agg(posting ORDER BY posting)
      FROM (SELECT d.*, posting, ntile((cardinality(postings) + 63) / 64) OVER (
                       PARTITION BY lexeme, audience, first_number ORDER BY posting) AS part
              FROM divided AS d CROSS JOIN unnest(postings) AS posting) AS p
     GROUP BY lexeme, audience, first_number, part;
END $$;
