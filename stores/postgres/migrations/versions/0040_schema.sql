-- The schema of 0.3.0, out of that of 0.2.0: messages become memory that is found, maintained, archived and served.

-- Tables and columns by the field's terms.
ALTER TABLE mnestic.learning RENAME TO ingest_state;
ALTER TABLE mnestic.ingest_state RENAME CONSTRAINT learning_pkey TO ingest_state_pkey;
ALTER TABLE mnestic.ingest_state RENAME CONSTRAINT learning_state TO ingest_state_state;
ALTER TABLE mnestic.ingest_state RENAME CONSTRAINT learning_kind TO ingest_state_kind;
ALTER TABLE mnestic.ingest_state RENAME CONSTRAINT learning_parked TO ingest_state_parked;
ALTER INDEX mnestic.learning_by_state RENAME TO ingest_state_by_state;
ALTER SEQUENCE mnestic.learning_number_seq RENAME TO ingest_state_number_seq;
ALTER TABLE mnestic.signal RENAME TO memory_event;
ALTER TABLE mnestic.memory_event RENAME CONSTRAINT signal_pkey TO memory_event_pkey;
ALTER TABLE mnestic.memory_event RENAME CONSTRAINT signal_target TO memory_event_target;
ALTER TABLE mnestic.agent_revision RENAME COLUMN signals TO events;
ALTER TABLE mnestic.agent_revision RENAME COLUMN knowledge TO knowledge_revision;
ALTER TABLE mnestic.forgetting RENAME COLUMN asked_at TO requested_at;

-- Written as it is sent: to count its messages Postgres reads a document twice, and compressing it takes longer still. Who
-- seals a session counts its messages; a document takes three times the room, as in snapshots.
ALTER TABLE mnestic.working_memory DROP COLUMN message_count;
ALTER TABLE mnestic.working_memory ALTER COLUMN state SET STORAGE EXTERNAL;

-- The words are those of memory/maintenance/duplicates.yaml; a test holds both to each other.
-- Entries have a key that others which may say the same have as well, so that a night need not read all of their words.
CREATE FUNCTION mnestic.duplicate_key(
    kind text, entry_type text, content text, speaker text, channel text, parent text, subjects jsonb, tags jsonb, aliases jsonb,
    expires_at timestamptz) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT hash_array_extended(ARRAY[words, entry_type, speaker, channel, parent, CAST(subjects AS text), CAST(tags AS text),
                                     CAST(aliases AS text), CAST(EXTRACT(epoch FROM expires_at) AS text)], 0)
      FROM (SELECT regexp_replace(
            lower(content),
            '\m(?:actually|basically|hello|hey|hi|hm|hmm|oh|please|really|the|uh|um|very)\M|[[:space:][:punct:]]+',
            '', 'g') AS words
             WHERE kind = 'message' AND entry_type <> 'correction' OFFSET 0) AS left_over
     WHERE words <> ''
$$;

-- Each answer changes how often its entries were returned. On a page that has room for one entry more the new version stands
-- beside the old one, and no index hears of it; on a full one it is written elsewhere, and into all of them.
ALTER TABLE mnestic.entry SET (fillfactor = 85);
-- The defaults rewrite no row. That of `features` goes again, so that nobody forgets to write them.
ALTER TABLE mnestic.entry
    ADD COLUMN features smallint NOT NULL DEFAULT 0,
    ADD COLUMN tokens bytea,  -- of its words, for late interaction; where it is null a question tokenizes them
    ADD COLUMN kind text NOT NULL DEFAULT 'message',
    ADD CONSTRAINT entry_kind CHECK (kind IN ('message', 'fact', 'episode', 'compressed')),
    ADD COLUMN merged_into text,
    ADD COLUMN restored_at timestamptz,  -- which counts as a use of it
    ADD COLUMN duplicate_key bigint GENERATED ALWAYS AS (
        mnestic.duplicate_key(kind, entry_type, content, speaker, channel, parent, subjects, tags, aliases, expires_at)) STORED,
    ADD COLUMN reinstated_at timestamptz,  -- when somebody has taken its supersession back
    ADD COLUMN replaces jsonb NOT NULL DEFAULT '[]';  -- earlier entries that a message replaces, as a model names them
ALTER TABLE mnestic.entry ALTER COLUMN features DROP DEFAULT;
-- The planner has no use for statistics of tokens, which would quote what entries say.
ALTER TABLE mnestic.entry ALTER COLUMN tokens SET STATISTICS 0;
CREATE INDEX entry_derived ON mnestic.entry (tenant_id, agent_id, kind) WHERE kind <> 'message';
CREATE INDEX entry_by_duplicate_key ON mnestic.entry (tenant_id, agent_id, duplicate_key, number)
    WHERE duplicate_key IS NOT NULL AND status = 'active' AND merged_into IS NULL;
ALTER TABLE mnestic.entry_term DROP CONSTRAINT entry_term_kind,
    ADD CONSTRAINT entry_term_kind
        CHECK (kind IN ('keyword', 'tag', 'alias', 'subject', 'related', 'replaced', 'ended', 'corrected'));

-- An index of vectors is of one agent and model, and Postgres sees that it applies only where these are written out. So that
-- the statement of a search has one text, and a plan that is kept, they are written out in here. It reads as whoever calls
-- it, behind row-level security. Vectors of more than 1,280 dimensions are not in the index that answers without the table.
CREATE FUNCTION mnestic.nearest_vectors(
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
    ELSIF vector_dims(query) <= 1280 THEN
        RETURN QUERY SELECT v.entry_number, - (v.vector <#> query) FROM mnestic.embedding AS v
         WHERE v.tenant_id = of_tenant AND v.agent_id = of_agent AND v.model = of_model AND v.dimensions <= 1280
         ORDER BY v.vector <#> query LIMIT most;
    ELSE
        RETURN QUERY SELECT v.entry_number, - (v.vector <#> query) FROM mnestic.embedding AS v
         WHERE v.tenant_id = of_tenant AND v.agent_id = of_agent AND v.model = of_model
         ORDER BY v.vector <#> query LIMIT most;
    END IF;
END $$;

-- Of several models the one that searches compare, and the one before it, so that both can be there during a change. They are
-- on the row that every writer of an agent's indexes locks, so that a switch waits for writers, and they for it.
ALTER TABLE mnestic.corpus
    ADD COLUMN active_model text,
    ADD COLUMN previous_model text,
    ADD COLUMN rejected_model text,
    ADD COLUMN switched_at timestamptz;

-- The words of archived entries, so that these are found where nothing live answers.
CREATE FUNCTION mnestic.words_of(language text, content text) RETURNS tsvector
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS $$
    SELECT to_tsvector(language::regconfig, mnestic.words_apart(content))
$$;
CREATE TABLE mnestic.archived_entry (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    archived_at timestamptz NOT NULL,
    reason text NOT NULL,
    run text,
    entry jsonb NOT NULL,
    models text[] NOT NULL,
    vectors halfvec[] NOT NULL,
    session_id text GENERATED ALWAYS AS (entry ->> 'session_id') STORED,
    source_id text GENERATED ALWAYS AS (entry ->> 'source_id') STORED,
    merged_into text GENERATED ALWAYS AS (entry ->> 'merged_into') STORED,
    words tsvector GENERATED ALWAYS AS (mnestic.words_of(entry ->> 'language', entry ->> 'content')) STORED,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT archived_entry_reason CHECK (reason IN ('unimportant', 'over_limit', 'by_hand', 'compressed', 'merged'))
);
CREATE INDEX archived_entry_by_time ON mnestic.archived_entry (tenant_id, agent_id, archived_at, id);
CREATE INDEX archived_entry_by_source ON mnestic.archived_entry (tenant_id, agent_id, session_id, source_id);
CREATE INDEX archived_entry_merged ON mnestic.archived_entry (tenant_id, agent_id, merged_into) WHERE merged_into IS NOT NULL;

-- Facts that fade, and what use adds to their confidence.
ALTER TABLE mnestic.claim DROP CONSTRAINT claim_kind;
ALTER TABLE mnestic.claim ADD CONSTRAINT claim_kind
 CHECK (kind IN ('affirmed', 'corrected', 'ended', 'retracted', 'reactivated', 'deleted', 'faded'));
ALTER TABLE mnestic.fact ADD COLUMN decayed_confidence double precision,
    ADD COLUMN promotion double precision NOT NULL DEFAULT 0,  -- what use adds to its confidence
    ADD COLUMN used_at timestamptz;
CREATE INDEX fact_by_category ON mnestic.fact (tenant_id, agent_id, category, valid_from, id) WHERE status = 'active';

-- Which messages before it one was extracted with, to be extracted again when an earlier one arrives late; NULL where that
-- is not known, as of all messages until now.
ALTER TABLE mnestic.ingest_state
    ADD COLUMN context bigint[],
    ADD COLUMN replaces jsonb NOT NULL DEFAULT '[]';
-- By bytes, so that messages of one moment have the same order in every database.
DROP INDEX mnestic.resource_by_session;
CREATE INDEX resource_by_session ON mnestic.resource
    (tenant_id, agent_id, session_id, at, source_id COLLATE "C");

CREATE TABLE mnestic.category (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    name text NOT NULL,
    summary text,
    updated_at timestamptz NOT NULL,
    model text,  -- which was asked for the summary
    PRIMARY KEY (tenant_id, agent_id, name),
    CONSTRAINT category_name CHECK (name IN ('profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'))
);

-- Summaries of large memories by time.
CREATE TABLE mnestic.summary (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    level text NOT NULL,
    starts_at timestamptz NOT NULL,
    session_id text NOT NULL,
    ends_at timestamptz NOT NULL,
    text text NOT NULL,
    tokens integer NOT NULL,
    messages bigint NOT NULL,
    digest text NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, level, starts_at, session_id),
    CONSTRAINT summary_level CHECK (level IN ('session', 'week', 'month', 'life')),
    CONSTRAINT summary_session CHECK (level = 'session' OR session_id = '')
);
CREATE INDEX summary_by_session ON mnestic.summary (tenant_id, agent_id, session_id, starts_at) WHERE level = 'session';

-- The graph of facts: an edge for each fact that holds or held, which follows the fact. It is found by name with indexes that
-- begin with the name, so that only the primary key serves to look an edge up: while the statistics are those of an empty
-- table, all indexes that begin with tenant and agent seem equally good.
CREATE TABLE mnestic.graph_edge (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    source text NOT NULL,
    source_key text NOT NULL,
    predicate text NOT NULL,
    target text NOT NULL,
    target_key text NOT NULL,
    weight double precision NOT NULL,
    is_active boolean NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    PRIMARY KEY (tenant_id, agent_id, id)
);
CREATE INDEX graph_edge_by_source ON mnestic.graph_edge (source_key, agent_id, tenant_id);
CREATE INDEX graph_edge_by_target ON mnestic.graph_edge (target_key, agent_id, tenant_id);

-- Since when what entries state is so no longer, by which entry, and why: a search reads it and decides nothing.
CREATE TABLE mnestic.supersession (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    entry_id text NOT NULL,
    at timestamptz NOT NULL,
    by text,
    why text NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, entry_id),
    CONSTRAINT supersession_why CHECK (why IN ('superseded', 'replaced', 'ended', 'corrected', 'withdrawn'))
);

-- A report of each run.
CREATE TABLE mnestic.maintenance_run (
    tenant_id text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    agent_id text,
    dry_run boolean NOT NULL,
    scheduled_at timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    agents integer NOT NULL,
    counts jsonb NOT NULL,
    problems jsonb NOT NULL,
    usage jsonb NOT NULL DEFAULT '{}',  -- of models
    sizes jsonb,  -- how much memory there was at its end
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX maintenance_run_by_time ON mnestic.maintenance_run (tenant_id, started_at, id);
CREATE INDEX llm_usage_by_run ON mnestic.llm_usage (tenant_id, operation_key) WHERE purpose = 'maintain';
CREATE INDEX operation_of_maintenance ON mnestic.operation (tenant_id, agent_id) WHERE name = 'maintenance';

-- Removes messages that nothing refers to, and says how many they were. That they were here is kept, so that a message that
-- is sent again is not learned from again. What was said without being learned from is no orphan, and what was forgotten is a
-- tombstone. Each look-up is by a whole key (OFFSET 0), so that the plan is good whatever an agent has.
CREATE FUNCTION mnestic.delete_orphans(agent text) RETURNS integer
    SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog, mnestic, pg_temp AS $$
WITH tenant AS MATERIALIZED (SELECT current_setting('mnestic.tenant_id', true) AS id),
orphan AS MATERIALIZED (
    SELECT r.session_id, r.source_id
      FROM tenant AS t
      JOIN mnestic.resource AS r ON r.tenant_id = t.id AND r.agent_id = agent
      JOIN mnestic.ingest_state AS i ON i.tenant_id = t.id AND i.agent_id = agent
       AND i.session_id = r.session_id AND i.source_id = r.source_id AND i.state IN ('learned', 'dropped')
     WHERE r.forgotten_at IS NULL
       AND NOT EXISTS (SELECT FROM mnestic.entry AS e
                        WHERE e.tenant_id = t.id AND e.agent_id = agent AND e.session_id = r.session_id
                          AND e.at = r.at AND e.source_id = r.source_id OFFSET 0)
       AND NOT EXISTS (SELECT FROM mnestic.archived_entry AS a
                        WHERE a.tenant_id = t.id AND a.agent_id = agent AND a.session_id = r.session_id
                          AND a.source_id = r.source_id OFFSET 0)
       AND NOT EXISTS (SELECT FROM mnestic.claim AS c
                        WHERE c.tenant_id = t.id AND c.agent_id = agent AND c.session_id = r.session_id
                          AND c.source_id = r.source_id OFFSET 0)
       AND r.session_id NOT IN (SELECT e.session_id FROM mnestic.episode AS e
                                 WHERE e.tenant_id = t.id AND e.agent_id = agent AND e.session_id IS NOT NULL)
       AND r.session_id NOT IN (SELECT w.session_id FROM mnestic.job_wait AS w
                                 WHERE w.tenant_id = t.id AND w.agent_id = agent)
       AND (r.session_id, r.source_id) NOT IN (
            SELECT u.session_id, u.corrects FROM mnestic.ingest_state AS u
             WHERE u.tenant_id = t.id AND u.agent_id = agent AND u.state IN ('received', 'extracted', 'parked')
               AND u.corrects IS NOT NULL)
),
dropped AS (
    UPDATE mnestic.ingest_state AS i SET state = 'dropped', extracted = NULL, updated_at = now()
      FROM tenant AS t, orphan AS o
     WHERE i.tenant_id = t.id AND i.agent_id = agent AND i.session_id = o.session_id AND i.source_id = o.source_id
),
deleted AS (
    DELETE FROM mnestic.resource AS r USING tenant AS t, orphan AS o
     WHERE r.tenant_id = t.id AND r.agent_id = agent AND r.session_id = o.session_id AND r.source_id = o.source_id
    RETURNING 1
)
SELECT CAST(count(*) AS integer) FROM deleted
$$;
REVOKE EXECUTE ON FUNCTION mnestic.delete_orphans FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.delete_orphans TO mnestic_app;

-- Of a message that is being learned from; what a person has had believed again stays.
CREATE FUNCTION mnestic.replace_claims(agent text, ids text[])
    RETURNS integer SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE touched integer;
BEGIN
    DELETE FROM mnestic.claim AS c USING mnestic.ingest_state AS i
     WHERE c.tenant_id = current_setting('mnestic.tenant_id', true) AND c.agent_id = agent AND c.id = ANY (ids)
       AND i.tenant_id = c.tenant_id AND i.agent_id = c.agent_id
       AND i.session_id = c.session_id AND i.source_id = c.source_id AND i.state = 'extracted'
       AND NOT EXISTS (
           SELECT FROM mnestic.claim AS d
            WHERE d.tenant_id = c.tenant_id AND d.agent_id = c.agent_id AND d.subject_key = c.subject_key
              AND d.predicate = c.predicate AND d.kind = 'reactivated' AND lower(d.object) = lower(c.object));
    GET DIAGNOSTICS touched = ROW_COUNT;
    RETURN touched;
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.replace_claims FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.replace_claims TO mnestic_app;

-- Where a message came from may name what it was about, and goes with it.
CREATE OR REPLACE FUNCTION mnestic.forget_messages(
    forgetting text, agent text, sessions text[], sources text[]
)
    RETURNS integer SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE touched integer;
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.resource AS r SET content = '', speaker = '', channel = '', forgotten_at = now()
      FROM unnest(sessions, sources) AS gone (session_id, source_id)
     WHERE r.tenant_id = current_setting('mnestic.tenant_id', true) AND r.agent_id = agent
       AND r.session_id = gone.session_id AND r.source_id = gone.source_id AND r.forgotten_at IS NULL;
    GET DIAGNOSTICS touched = ROW_COUNT;
    PERFORM set_config('mnestic.forgetting', '', true);
    RETURN touched;
END $$;
-- A message that says nothing of the topic stays, and does not name it any more.
CREATE FUNCTION mnestic.redact_channel(forgetting text, agent text, session text, source text,
                                       channel_left text)
    RETURNS void SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.resource AS r SET channel = channel_left
     WHERE r.tenant_id = current_setting('mnestic.tenant_id', true) AND r.agent_id = agent
       AND r.session_id = session AND r.source_id = source;
    PERFORM set_config('mnestic.forgetting', '', true);
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.redact_channel FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.redact_channel TO mnestic_app;
GRANT UPDATE (channel) ON mnestic.memory_retrievals TO mnestic_app;

-- What a message says of a topic is blanked out, so that all else stands where claims say that it stands. A text that
-- says anything else in those places is not taken.
CREATE FUNCTION mnestic.cut_messages(
    forgetting text, agent text, sessions text[], sources text[], contents text[]
)
    RETURNS integer SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE touched integer;
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.resource AS r SET content = cut.content
      FROM unnest(sessions, sources, contents) AS cut (session_id, source_id, content)
     WHERE r.tenant_id = current_setting('mnestic.tenant_id', true) AND r.agent_id = agent
       AND r.session_id = cut.session_id AND r.source_id = cut.source_id AND r.forgotten_at IS NULL
       AND char_length(r.content) = char_length(cut.content);
    GET DIAGNOSTICS touched = ROW_COUNT;
    PERFORM set_config('mnestic.forgetting', '', true);
    RETURN touched;
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.cut_messages FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.cut_messages TO mnestic_app;

-- What keeps something forgotten from being learned again: keyed hashes of its words.
ALTER TABLE mnestic.forgetting ADD COLUMN kept_out jsonb;
-- Serves the lookup before anything is learned.
CREATE INDEX forgetting_kept_out ON mnestic.forgetting (tenant_id, agent_id) WHERE kept_out IS NOT NULL;
GRANT UPDATE (kept_out) ON mnestic.forgetting TO mnestic_app;

-- The planner's statistics quote rows, whole texts among them. They are made anew as the owner of the
-- tables, which the application is not. Says whether none is left that an earlier ANALYZE made.
CREATE FUNCTION mnestic.renew_statistics(forgetting text, agent text, relation text) RETURNS boolean
    SECURITY DEFINER LANGUAGE plpgsql
    SET search_path = pg_catalog, mnestic, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    target constant regclass := format('mnestic.%I', relation)::regclass;
    part text;
BEGIN
    IF NOT EXISTS (
        SELECT FROM mnestic.forgetting AS f
         WHERE f.tenant_id = current_setting('mnestic.tenant_id', true) AND f.agent_id = agent
           AND f.id = forgetting)
    THEN
        RAISE EXCEPTION 'there was no forgetting %', forgetting;
    END IF;
    IF NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = target) THEN
        RETURN false;  -- ANALYZE would pass it over
    END IF;
    EXECUTE format('ANALYZE %s', target);
    IF (SELECT reltuples > 0 FROM pg_class WHERE oid = target) THEN
        RETURN true;
    END IF;
    -- Where it finds no row, ANALYZE leaves what was there. Postgres 18 can clear it.
    IF to_regprocedure('pg_clear_attribute_stats(text, text, text, boolean)') IS NULL THEN
        RETURN false;
    END IF;
    FOR part IN
        SELECT attname FROM pg_attribute WHERE attrelid = target AND attnum > 0 AND NOT attisdropped
    LOOP
        EXECUTE 'SELECT pg_clear_attribute_stats($1, $2, $3, false)' USING 'mnestic', relation, part;
    END LOOP;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.renew_statistics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.renew_statistics TO mnestic_app;

CREATE TABLE mnestic.api_key (
    tenant_id text NOT NULL,
    id text NOT NULL,
    sha256 text NOT NULL,
    agents jsonb NOT NULL,
    actions jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_log_by_key ON mnestic.audit_log (tenant_id, actor, id) WHERE starts_with(actor, 'key/');
CREATE INDEX audit_log_of_denials ON mnestic.audit_log (tenant_id, id) WHERE action = 'access.denied';
-- The changes of entries that are not part of learning.
CREATE INDEX audit_log_of_entries ON mnestic.audit_log (tenant_id, agent_id, target, id)
 WHERE action IN ('entry.change', 'entry.remove', 'entry.archive', 'entry.restore') AND actor <> 'learning';

-- Which tenants there are, so that a worker finds the messages of all that wait for extraction. The register has no row-level
-- security: it is what a worker reads before it becomes a tenant. It holds names alone.
CREATE TABLE mnestic.tenant (tenant_id text COLLATE "C" PRIMARY KEY CHECK (tenant_id <> ''));
GRANT SELECT, INSERT ON mnestic.tenant TO mnestic_app;
CREATE FUNCTION mnestic.register_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mnestic.tenant (tenant_id) VALUES (NEW.tenant_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
-- An agent's counters are inserted once, by the first that writes its memory.
CREATE TRIGGER register_tenant AFTER INSERT ON mnestic.agent_revision
    FOR EACH ROW EXECUTE FUNCTION mnestic.register_tenant();

-- Each tenant is looked at as that tenant: nothing here passes row-level security. It goes from agent to agent and from state to
-- state along the index `ingest_state_by_state`, and reads no message that is done.
CREATE FUNCTION mnestic.waiting_agents(of_tenants text[]) RETURNS TABLE (tenant_id text, agent_id text)
LANGUAGE plpgsql AS $$
DECLARE
    caller text := current_setting('mnestic.tenant_id');
    one text;
BEGIN
    FOR one IN SELECT t.tenant_id FROM mnestic.tenant AS t WHERE of_tenants = '{}' OR t.tenant_id = ANY (of_tenants)
    LOOP
        PERFORM set_config('mnestic.tenant_id', one, true);
        RETURN QUERY
        WITH RECURSIVE agents AS (
            (SELECT l.agent_id COLLATE "C" AS agent FROM mnestic.ingest_state AS l
              WHERE l.tenant_id = one ORDER BY l.agent_id COLLATE "C" LIMIT 1)
            UNION ALL
            SELECT (SELECT l.agent_id COLLATE "C" FROM mnestic.ingest_state AS l
                     WHERE l.tenant_id = one AND l.agent_id COLLATE "C" > a.agent
                     ORDER BY l.agent_id COLLATE "C" LIMIT 1)
              FROM agents AS a WHERE a.agent IS NOT NULL
        )
        SELECT one, a.agent FROM agents AS a
         WHERE EXISTS (SELECT FROM mnestic.ingest_state AS l
                        WHERE l.tenant_id = one AND l.agent_id COLLATE "C" = a.agent
                          AND l.state IN ('received', 'extracted'));
    END LOOP;
    PERFORM set_config('mnestic.tenant_id', caller, true);
END $$;

-- The versions of contracts. They are never changed: a contract that is taken away has a last version without a document.
CREATE TABLE mnestic.contract (
    tenant_id text NOT NULL,
    selector text NOT NULL,
    version integer NOT NULL,
    document json,
    sha256 text NOT NULL,
    applied_by text NOT NULL,
    applied_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, selector, version),
    CONSTRAINT contract_version CHECK (version > 0)
);

-- The contract in force for an agent: that of the selector which is its id, or of the pattern that says most of it. In a selector
-- `*` stands for any characters, and no selector has a character that LIKE knows but `_`.
CREATE FUNCTION mnestic.contract_of(of_tenant text, of_agent text)
RETURNS TABLE (selector text, version integer, document json, sha256 text, applied_by text, applied_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT l.selector, l.version, l.document, l.sha256, l.applied_by, l.applied_at
      FROM (SELECT DISTINCT ON (c.selector) c.*
              FROM mnestic.contract AS c
             WHERE c.tenant_id = of_tenant
             ORDER BY c.selector, c.version DESC) AS l
     WHERE l.document IS NOT NULL
       AND of_agent LIKE replace(replace(l.selector, '_', '\_'), '*', '%')
     ORDER BY position('*' IN l.selector) > 0, char_length(split_part(l.selector, '*', 1)) DESC,
              char_length(replace(l.selector, '*', '')) DESC, l.selector COLLATE "C"
     LIMIT 1
$$;

-- What is known of a record beside its value, such as where it comes from.
ALTER TABLE mnestic.long_term_record ADD COLUMN metadata jsonb;

-- The records of the transaction's tenant, by the condition of the policy of that name. Below a policy Postgres may not look up a
-- condition in an index unless its operator is leakproof, and none of jsonb is. A view has the rights of its owner, and no such order
-- of conditions; where row-level security holds the owner too, the rows are the same and the indexes stay out of use.
CREATE VIEW mnestic.tenant_record AS
SELECT tenant_id, agent_id, namespace, key, version, value, created_at, updated_at, expires_at, metadata
  FROM mnestic.long_term_record
 WHERE tenant_id = current_setting('mnestic.tenant_id', true);
GRANT SELECT ON mnestic.tenant_record TO mnestic_app;
