-- Who may read what. What was said under `readers` belongs to an audience: the number of that set of readers, 0 for everybody.
-- Each row that follows from it has the same number, and so have the rows of the indexes that find it.
CREATE TABLE mnestic.reader_set (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    readers text[] NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, id)
);
CREATE UNIQUE INDEX reader_set_by_readers ON mnestic.reader_set (tenant_id, agent_id, readers);
-- The readers of what is said in a session or a channel without any of its own.
CREATE TABLE mnestic.reader_default (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    readers text[] NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, kind, name),
    CONSTRAINT reader_default_kind CHECK (kind IN ('session', 'channel'))
);

-- The settings of a transaction: `mnestic.audiences` are those whose rows it sees, as an array; without any it sees all rows.
-- `mnestic.audience` is that of the rows it writes. Of one that reads for a reader `mnestic.is_reader` says so; it sees no table whose
-- rows have no audience, but for those that say nothing of what somebody said.
CREATE FUNCTION mnestic.own_audience() RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT COALESCE(CAST(NULLIF(current_setting('mnestic.audience', true), '') AS integer), 0)
$$;
-- The audience of an entry: that of the message that it is of, else that of the transaction.
CREATE FUNCTION mnestic.audience_of_entry(of_tenant text, of_agent text, of_kind text, of_session text, of_source text)
RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN COALESCE((SELECT r.audience FROM mnestic.resource AS r
                      WHERE r.tenant_id = of_tenant AND r.agent_id = of_agent AND of_kind = 'message'
                        AND r.session_id = of_session AND r.source_id = of_source), mnestic.own_audience());
END $$;
-- Whether somebody reads who may not see all rows.
CREATE FUNCTION mnestic.is_reader() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT COALESCE(current_setting('mnestic.is_reader', true), '') = 'yes'
$$;
-- Selectors as patterns of LIKE.
CREATE FUNCTION mnestic.reader_patterns(readers text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT string_to_array(replace(replace(array_to_string(readers, ' '), '_', '\_'), '*', '%'), ' ')
$$;

-- The audience of a message: of its own readers, else of its session's, else of its channel's; else that of the transaction.
CREATE FUNCTION mnestic.audience_of_message(of_tenant text, of_agent text, of_session text, of_channel text, own text[])
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    its text[] := COALESCE(own, (
        SELECT d.readers FROM mnestic.reader_default AS d
         WHERE d.tenant_id = of_tenant AND d.agent_id = of_agent
           AND (d.kind = 'session' AND d.name = of_session OR d.kind = 'channel' AND d.name = of_channel)
         ORDER BY d.kind DESC LIMIT 1));
    found integer;
BEGIN
    IF its IS NULL THEN
        RETURN mnestic.own_audience();
    END IF;
    SELECT s.id INTO found FROM mnestic.reader_set AS s
     WHERE s.tenant_id = of_tenant AND s.agent_id = of_agent AND s.readers = its;
    IF found IS NULL THEN
        INSERT INTO mnestic.reader_set (tenant_id, agent_id, readers) VALUES (of_tenant, of_agent, its)
        ON CONFLICT (tenant_id, agent_id, readers) DO UPDATE SET readers = excluded.readers
        RETURNING id INTO found;
    END IF;
    RETURN found;
END $$;

DO $$
DECLARE
    one text;
    visible text := '((SELECT strpos(current_setting(''mnestic.audiences'', true), ''{'')) IS DISTINCT FROM 1 '
                    'OR audience = ANY (CAST((SELECT current_setting(''mnestic.audiences'', true)) AS integer[])))';
BEGIN
    FOREACH one IN ARRAY ARRAY['resource', 'ingest_state', 'claim', 'fact', 'entry', 'archived_entry', 'graph_edge', 'posting', 'lexeme',
                               'entry_term', 'embedding', 'episode']
    LOOP
        EXECUTE format('ALTER TABLE mnestic.%I ADD COLUMN audience integer NOT NULL DEFAULT 0', one);
        EXECUTE format('ALTER TABLE mnestic.%I ALTER COLUMN audience SET DEFAULT mnestic.own_audience()', one);
        EXECUTE format('CREATE POLICY readers ON mnestic.%I AS RESTRICTIVE USING (%s)', one, visible);
    END LOOP;
    FOREACH one IN ARRAY ARRAY['long_term_record', 'working_memory', 'memory_event', 'memory_retrievals', 'memory_snapshot',
                               'job_wait', 'job_read', 'tool_result', 'plan', 'channel_event', 'forgetting', 'operation',
                               'audit_log', 'llm_usage', 'maintenance_run', 'reader_default', 'document', 'graph_node']
    LOOP
        EXECUTE format('CREATE POLICY readers ON mnestic.%I AS RESTRICTIVE FOR SELECT '
                       'USING ((SELECT current_setting(''mnestic.is_reader'', true)) IS DISTINCT FROM ''yes'')', one);
    END LOOP;
    FOREACH one IN ARRAY ARRAY['reader_set', 'reader_default']
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON mnestic.%I TO mnestic_app', one);
        EXECUTE format('ALTER TABLE mnestic.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY, '
                       'ALTER COLUMN tenant_id SET (n_distinct = 10), ALTER COLUMN agent_id SET (n_distinct = 10)', one);
        EXECUTE format('CREATE POLICY tenant ON mnestic.%I '
                       'USING (tenant_id = current_setting(''mnestic.tenant_id'', true)) '
                       'WITH CHECK (tenant_id = current_setting(''mnestic.tenant_id'', true))', one);
    END LOOP;
END $$;

-- A slot (subject, attribute) is decided within one audience.
DROP INDEX mnestic.fact_active_single;
CREATE UNIQUE INDEX fact_active_single ON mnestic.fact (tenant_id, agent_id, subject_key, predicate, audience)
    WHERE status = 'active' AND cardinality = 'single';
DROP INDEX mnestic.fact_active_multi;
CREATE UNIQUE INDEX fact_active_multi ON mnestic.fact (tenant_id, agent_id, subject_key, predicate, object_key, audience)
    WHERE status = 'active' AND cardinality = 'multi';

-- The indexes that searches read alone have the audience as well.
ALTER TABLE mnestic.posting DROP CONSTRAINT posting_pkey;
ALTER TABLE mnestic.posting ADD PRIMARY KEY (tenant_id, agent_id, lexeme, entry_number) INCLUDE (frequency, length, audience);
-- How many entries have a word is counted by audience, so that a reader's scores follow from what he may see.
ALTER TABLE mnestic.lexeme DROP CONSTRAINT lexeme_pkey;
ALTER TABLE mnestic.lexeme ADD PRIMARY KEY (tenant_id, agent_id, lexeme, audience);
ALTER TABLE mnestic.entry_term DROP CONSTRAINT entry_term_pkey;
ALTER TABLE mnestic.entry_term ADD PRIMARY KEY (tenant_id, agent_id, kind, term, entry_number) INCLUDE (audience);
DROP INDEX mnestic.embedding_exact;
CREATE INDEX embedding_exact ON mnestic.embedding (tenant_id, agent_id, model, entry_number)
    INCLUDE (audience, vector) WHERE dimensions <= 1280;
CREATE INDEX entry_with_readers ON mnestic.entry (tenant_id, agent_id, audience) INCLUDE (lexemes) WHERE audience <> 0;

-- How many entries and lexemes the reader of a transaction may not see, so that these count in no score. It alone looks past
-- the policies of readers, for these two numbers.
CREATE FUNCTION mnestic.hidden_entries(of_tenant text, of_agent text) RETURNS TABLE (entries bigint, lexemes bigint)
LANGUAGE plpgsql STABLE ROWS 1 AS $$
DECLARE
    seen text := current_setting('mnestic.audiences', true);
BEGIN
    IF NOT mnestic.is_reader() THEN
        RETURN;
    END IF;
    PERFORM set_config('mnestic.audiences', '', true);
    RETURN QUERY
    SELECT count(*), COALESCE(sum(e.lexemes), 0)::bigint FROM mnestic.entry AS e
     WHERE e.tenant_id = of_tenant AND e.agent_id = of_agent AND e.audience <> 0 AND e.audience <> ALL (seen::integer[]);
    PERFORM set_config('mnestic.audiences', seen, true);
END $$;
