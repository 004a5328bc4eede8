-- A vector is stored once. An exact search reads the rows by their key as fast as it read an index that had the vectors as well.
DROP INDEX mnestic.embedding_exact;
-- An index of vectors is of one agent and model, and Postgres sees that it applies only where these are written out. So that
-- the statement of a search has one text, and a plan that is kept, they are written out in here. It reads as whoever calls
-- it, behind row-level security.
CREATE OR REPLACE FUNCTION mnestic.nearest_vectors(
    of_tenant text, of_agent text, of_model text, query halfvec, most integer, is_indexed boolean
)
    RETURNS TABLE (number bigint, score double precision) LANGUAGE plpgsql STABLE ROWS 100 AS $$
BEGIN
    IF is_indexed THEN
        RETURN QUERY EXECUTE format(
            'SELECT entry_number, - ((vector::halfvec(%1$s)) <#> $1::halfvec(%1$s)) FROM mnestic.embedding '
            'WHERE tenant_id = %2$L AND agent_id = %3$L AND model = %4$L AND dimensions = %1$s '
            'ORDER BY (vector::halfvec(%1$s)) <#> $1::halfvec(%1$s) LIMIT %5$s',
            vector_dims(query), of_tenant, of_agent, of_model, most) USING query;
    ELSE
        RETURN QUERY SELECT v.entry_number, - (v.vector <#> query) FROM mnestic.embedding AS v
         WHERE v.tenant_id = of_tenant AND v.agent_id = of_agent AND v.model = of_model
         ORDER BY v.vector <#> query LIMIT most;
    END IF;
END $$;
