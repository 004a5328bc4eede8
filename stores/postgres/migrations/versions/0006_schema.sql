-- The schema of 0.2.0, out of that of 0.1.0: jobs made whole, and knowledge: claims, facts, entries and what finds them.

CREATE TABLE mnestic.plan (
    tenant_id text NOT NULL,
    decision_id text NOT NULL,
    document jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, decision_id)
);

CREATE TABLE mnestic.tool_result (
    tenant_id text NOT NULL,
    id text NOT NULL,
    agent_id text NOT NULL,
    job_id text NOT NULL,
    node text NOT NULL,
    sha256 text NOT NULL,
    size_bytes bigint NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE mnestic.llm_usage (
    tenant_id text NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    agent_id text NOT NULL,
    session_id text,
    job_id text,
    operation_key text,
    purpose text NOT NULL,
    model text NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost_usd numeric,
    created_at timestamptz NOT NULL,
    injected_tokens bigint NOT NULL DEFAULT 0,  -- which auto-retrieval has put there
    search_units bigint NOT NULL DEFAULT 0,  -- what some rerankers bill, instead of tokens
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX llm_usage_by_time ON mnestic.llm_usage (tenant_id, created_at);
CREATE INDEX llm_usage_by_job ON mnestic.llm_usage (tenant_id, agent_id, job_id);

CREATE TABLE mnestic.claim (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    subject_key text NOT NULL,
    predicate text NOT NULL,
    object text,
    confidence double precision NOT NULL,
    said_at timestamptz NOT NULL,
    valid_from timestamptz,
    valid_to timestamptz,
    source jsonb NOT NULL,
    recorded_at timestamptz NOT NULL,
    session_id text GENERATED ALWAYS AS (source ->> 'session_id') STORED,
    source_id text GENERATED ALWAYS AS (source ->> 'source_id') STORED,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT claim_kind CHECK
        (kind IN ('affirmed', 'corrected', 'ended', 'retracted', 'reactivated', 'deleted'))
);
-- By columns: row-level security lets no expression of JSON use an index.
CREATE INDEX claim_by_source ON mnestic.claim (tenant_id, agent_id, session_id, source_id);
CREATE INDEX claim_by_topic ON mnestic.claim (tenant_id, agent_id, subject_key, predicate);

CREATE TABLE mnestic.fact (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    subject text NOT NULL,
    subject_key text NOT NULL,
    predicate text NOT NULL,
    object text NOT NULL,
    object_key text NOT NULL,
    category text NOT NULL,
    cardinality text NOT NULL,
    status text NOT NULL,
    confidence double precision NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    "end" text,
    supersedes text,
    superseded_by text,
    claims jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT fact_status CHECK (status IN ('active', 'archived', 'deleted')),
    CONSTRAINT fact_cardinality CHECK (cardinality IN ('single', 'multi')),
    CONSTRAINT fact_category CHECK
        (category IN ('profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'))
);
CREATE INDEX fact_by_topic ON mnestic.fact (tenant_id, agent_id, subject_key, predicate, valid_from, id);
CREATE UNIQUE INDEX fact_active_single ON mnestic.fact (tenant_id, agent_id, subject_key, predicate)
    WHERE status = 'active' AND cardinality = 'single';
CREATE UNIQUE INDEX fact_active_multi
    ON mnestic.fact (tenant_id, agent_id, subject_key, predicate, object_key)
    WHERE status = 'active' AND cardinality = 'multi';
CREATE INDEX fact_by_name ON mnestic.fact (tenant_id, agent_id, object_key)
    WHERE status = 'active' AND predicate IN ('also_known_as', 'full_name', 'nickname', 'preferred_name');
CREATE INDEX fact_ending ON mnestic.fact (tenant_id, agent_id, valid_to)
    WHERE status = 'active' AND valid_to IS NOT NULL;

CREATE TABLE mnestic.predicate (
    tenant_id text NOT NULL,
    name text NOT NULL,
    cardinality text NOT NULL,
    category text NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name),
    CONSTRAINT predicate_cardinality CHECK (cardinality IN ('single', 'multi')),
    CONSTRAINT predicate_category CHECK
        (category IN ('profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'))
);

-- A text as full text search reads it. Whatever the database's locale takes for a letter, punctuation
-- parts words; and a run of a script without spaces is its pairs of characters: ABCD is AB BC CD.
CREATE FUNCTION mnestic.words_apart(content text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS $$
    SELECT CASE WHEN octet_length(content) = length(content) THEN content ELSE
        regexp_replace(
            regexp_replace(
                normalize(regexp_replace(content, '[\u00a1-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7\u037e\u0387\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05f3\u05f4\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u0e2f\u0e4f\u0e5a\u0e5b\u2000-\u206f\u20a0-\u20cf\u2120\u2122\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u303d\u30fb\ufe0e\ufe0f\ufe30-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\U0001f000-\U0001faff]+', ' ', 'g'), NFKC),
                '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)', ' \1 ', 'g'),
            '(?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])(?=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])', '\1 \1', 'g')
    END
$$;
-- How long a text is for full text search.
CREATE FUNCTION mnestic.count_lexemes(language text, content text) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS $$
    SELECT COALESCE(sum(cardinality(positions)), 0)::integer
      FROM unnest(to_tsvector(language::regconfig, mnestic.words_apart(content)))
$$;

CREATE TABLE mnestic.entry (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    entry_type text NOT NULL,
    status text NOT NULL,
    content text NOT NULL,
    summary text NOT NULL,
    session_id text,
    source_id text,
    channel text,
    speaker text,
    subjects jsonb NOT NULL,
    keywords jsonb NOT NULL,
    tags jsonb NOT NULL,
    aliases jsonb NOT NULL,
    times jsonb NOT NULL,
    related jsonb NOT NULL,
    parent text,
    facts jsonb NOT NULL DEFAULT '[]',
    importance real NOT NULL,
    critical boolean NOT NULL,
    access_count integer NOT NULL,
    last_accessed timestamptz,
    language text NOT NULL,
    lexemes integer NOT NULL GENERATED ALWAYS AS (mnestic.count_lexemes(language, content)) STORED,
    at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT entry_status CHECK (status IN ('active', 'archived')),
    CONSTRAINT entry_type CHECK
        (entry_type IN ('interaction', 'insight', 'correction', 'context', 'learning', 'error',
                        'success', 'pattern', 'preference', 'knowledge'))
);
CREATE UNIQUE INDEX entry_by_number ON mnestic.entry (tenant_id, agent_id, number);
CREATE INDEX entry_by_time ON mnestic.entry (tenant_id, agent_id, at, id);
CREATE INDEX entry_by_session ON mnestic.entry (tenant_id, agent_id, session_id, at, id);
CREATE INDEX entry_by_channel ON mnestic.entry (tenant_id, agent_id, channel, at, id);
CREATE INDEX entry_by_parent ON mnestic.entry (tenant_id, agent_id, parent) WHERE parent IS NOT NULL;
CREATE INDEX entry_expiring ON mnestic.entry (tenant_id, agent_id, expires_at) WHERE expires_at IS NOT NULL;

-- What full text search reads. An entry has its number here, which is a third of its id.
CREATE TABLE mnestic.posting (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    lexeme text NOT NULL,
    entry_number bigint NOT NULL,
    frequency smallint NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, lexeme, entry_number) INCLUDE (frequency, length)
);
CREATE TABLE mnestic.lexeme (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    lexeme text NOT NULL,
    entries bigint NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, lexeme)
);
CREATE TABLE mnestic.corpus (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    entries bigint NOT NULL,
    lexemes bigint NOT NULL,
    languages text[] NOT NULL,
    PRIMARY KEY (tenant_id, agent_id)
);

-- Names that an entry is found by: looked up by equality, which row-level security lets use an index.
CREATE TABLE mnestic.entry_term (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    kind text NOT NULL,
    term text NOT NULL,
    entry_number bigint NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, kind, term, entry_number),
    CONSTRAINT entry_term_kind CHECK (kind IN ('keyword', 'tag', 'alias', 'subject', 'related'))
);

CREATE TABLE mnestic.embedding (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    model text NOT NULL,
    entry_number bigint NOT NULL,
    dimensions integer NOT NULL,
    vector halfvec NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, model, entry_number)
);
-- Exact search reads this index alone; a wider vector does not fit into an index page.
CREATE INDEX embedding_exact ON mnestic.embedding (tenant_id, agent_id, model, entry_number)
    INCLUDE (vector) WHERE dimensions <= 1280;
-- How many entries of an agent have a vector of a model, and up to which number all may have one: which
-- have none is found without looking at those that do.
CREATE TABLE mnestic.embedding_model (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    model text NOT NULL,
    entries bigint NOT NULL,
    complete_to bigint NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, model)
);

-- What is to be learned from each resource, and how far that is. The resource itself never changes.
CREATE TABLE mnestic.learning (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    session_id text NOT NULL,
    source_id text NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    state text NOT NULL,
    entry_type text NOT NULL,
    kind text NOT NULL,
    extractor text,
    extracted jsonb,
    reason text,
    updated_at timestamptz NOT NULL,
    job_id text,
    workflow_run text,
    corrects text,
    PRIMARY KEY (tenant_id, agent_id, session_id, source_id),
    CONSTRAINT learning_state CHECK
        (state IN ('received', 'extracted', 'learned', 'parked', 'dropped')),
    CONSTRAINT learning_kind CHECK (kind IN ('message', 'tool_result')),
    CONSTRAINT learning_parked CHECK ((state = 'parked') = (reason IS NOT NULL))
);
-- Of the collation "C", so that no other index serves the condition on the agent: before a table is
-- analysed, Postgres expects a row or two whatever it is asked, and might read all that an agent has.
CREATE INDEX learning_by_state ON mnestic.learning (tenant_id, agent_id COLLATE "C", state, number);

-- The outbox: written in the transaction of the change. Numbers are counted per agent in agent_revision,
-- whose row a writer holds until it commits, so they become visible in their order and without gaps.
CREATE TABLE mnestic.signal (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL,
    target text NOT NULL,
    ids jsonb NOT NULL,
    subject text,
    predicate text,
    details jsonb NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, number),
    CONSTRAINT signal_target CHECK (target IN ('fact', 'entry', 'pattern'))
);

-- What is set for an agent at run time; of what is not set the defaults hold.
CREATE TABLE mnestic.setting (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    name text NOT NULL,
    value jsonb NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, name)
);
-- What auto-retrieval has put before a message: the memories and the notes, by their names alone.
CREATE TABLE mnestic.memory_retrievals (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    channel text NOT NULL,
    preview text NOT NULL,
    memories jsonb NOT NULL,
    notes jsonb NOT NULL,
    skipped jsonb NOT NULL,
    tokens integer NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, id)
);
CREATE INDEX memory_retrievals_by_time ON mnestic.memory_retrievals
    (tenant_id, agent_id, created_at, id);

-- Who had what forgotten, and how much that was. What it was about stands here while it goes on and no
-- longer: what is left is a tombstone without a word of it.
CREATE TABLE mnestic.forgetting (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    actor text NOT NULL,
    topic text,
    entries jsonb,
    purged jsonb NOT NULL DEFAULT '{}',
    asked_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT forgetting_finished CHECK
        ((finished_at IS NULL) = (topic IS NOT NULL) AND (finished_at IS NULL OR entries IS NULL))
);

-- Rows that are never changed are changed by a forgetting that goes on, and by the functions below alone:
-- the application may not write these columns, and the trigger asks for the forgetting, whoever writes.
CREATE FUNCTION mnestic.forgets(forgetting text, agent text) RETURNS boolean
    STABLE LANGUAGE sql SET search_path = pg_catalog, mnestic, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM mnestic.forgetting AS f
         WHERE f.tenant_id = current_setting('mnestic.tenant_id', true) AND f.agent_id = $2
           AND f.id = $1 AND f.finished_at IS NULL)
$$;
CREATE OR REPLACE FUNCTION mnestic.refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.tenant_id = current_setting('mnestic.tenant_id', true) AND NEW.tenant_id = OLD.tenant_id
       AND NEW.agent_id = OLD.agent_id
       AND mnestic.forgets(current_setting('mnestic.forgetting', true), OLD.agent_id) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of % are immutable', TG_TABLE_NAME;
END $$;
CREATE FUNCTION mnestic.begin_forgetting(forgetting text, agent text) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
BEGIN
    IF NOT mnestic.forgets(forgetting, agent) THEN
        RAISE EXCEPTION 'no forgetting % goes on', forgetting;
    END IF;
    PERFORM set_config('mnestic.forgetting', forgetting, true);
END $$;

CREATE FUNCTION mnestic.forget_messages(forgetting text, agent text, sessions text[], sources text[])
    RETURNS integer SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE touched integer;
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.resource AS r SET content = '', speaker = '', forgotten_at = now()
      FROM unnest(sessions, sources) AS gone (session_id, source_id)
     WHERE r.tenant_id = current_setting('mnestic.tenant_id', true) AND r.agent_id = agent
       AND r.session_id = gone.session_id AND r.source_id = gone.source_id AND r.forgotten_at IS NULL;
    GET DIAGNOSTICS touched = ROW_COUNT;
    PERFORM set_config('mnestic.forgetting', '', true);
    RETURN touched;
END $$;
CREATE FUNCTION mnestic.forget_claims(forgetting text, agent text, ids text[])
    RETURNS integer SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE touched integer;
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    DELETE FROM mnestic.claim AS c
     WHERE c.tenant_id = current_setting('mnestic.tenant_id', true) AND c.agent_id = agent
       AND c.id = ANY (ids);
    GET DIAGNOSTICS touched = ROW_COUNT;
    PERFORM set_config('mnestic.forgetting', '', true);
    RETURN touched;
END $$;
CREATE FUNCTION mnestic.redact_snapshot(forgetting text, agent text, snapshot text, left_of_it bytea)
    RETURNS void SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.memory_snapshot AS s
       SET body = left_of_it, redacted_at = now(), redacted_sha256 = encode(sha256(left_of_it), 'hex')
     WHERE s.tenant_id = current_setting('mnestic.tenant_id', true) AND s.agent_id = agent
       AND s.id = snapshot;
    PERFORM set_config('mnestic.forgetting', '', true);
END $$;
CREATE FUNCTION mnestic.redact_audit(forgetting text, agent text, row_id bigint, target_left text,
                                     reason_left text)
    RETURNS void SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
BEGIN
    PERFORM mnestic.begin_forgetting(forgetting, agent);
    UPDATE mnestic.audit_log AS a SET target = target_left, reason = reason_left
     WHERE a.tenant_id = current_setting('mnestic.tenant_id', true) AND a.agent_id = agent
       AND a.id = row_id;
    PERFORM set_config('mnestic.forgetting', '', true);
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.forget_messages, mnestic.forget_claims, mnestic.redact_snapshot,
    mnestic.redact_audit FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.forget_messages, mnestic.forget_claims, mnestic.redact_snapshot,
    mnestic.redact_audit TO mnestic_app;
-- What a signal or an injection was about goes; that there was one stays, and so does its number.
GRANT UPDATE (subject, predicate) ON mnestic.signal TO mnestic_app;
GRANT UPDATE (preview, memories, notes, skipped) ON mnestic.memory_retrievals TO mnestic_app;
GRANT DELETE ON mnestic.plan TO mnestic_app;
