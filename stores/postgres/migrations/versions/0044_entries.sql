-- A summary that is the content is not stored again. Entries from before keep theirs, which reads alike.
ALTER TABLE mnestic.entry ALTER COLUMN summary DROP NOT NULL;
-- Of two entries of one time the later has the higher number, which takes 8 bytes where an id takes 40.
DROP INDEX mnestic.entry_by_time, mnestic.entry_by_session, mnestic.entry_by_channel;
CREATE INDEX entry_by_time ON mnestic.entry (tenant_id, agent_id, at, number);
CREATE INDEX entry_by_session ON mnestic.entry (tenant_id, agent_id, session_id, at, number);
-- Without a time, so that Postgres stores each channel once, with a list of its entries.
CREATE INDEX entry_by_channel ON mnestic.entry (tenant_id, agent_id, channel);
-- Which entries may say the same is found by reading all of an agent, with their audiences, which this index never had.
DROP INDEX mnestic.entry_by_duplicate_key;
-- The messages before one mostly follow each other, and are one range then.
ALTER TABLE mnestic.ingest_state ALTER COLUMN context TYPE int8multirange
    USING CAST(regexp_replace(CAST(context AS text), '(\d+)', '[\1,\1]', 'g') AS int8multirange);
-- Of an earlier schema, and empty.
ALTER TABLE mnestic.entry DROP COLUMN facts;
