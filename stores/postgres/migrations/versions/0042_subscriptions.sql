-- A subscription's place is that of its name on one channel or pattern. Those of before are of no channel; each goes on there.
ALTER TABLE mnestic.subscription ADD COLUMN channel text NOT NULL DEFAULT '';
ALTER TABLE mnestic.subscription ALTER COLUMN channel DROP DEFAULT;
ALTER TABLE mnestic.subscription DROP CONSTRAINT subscription_pkey;
ALTER TABLE mnestic.subscription ADD PRIMARY KEY (tenant_id, agent_id, name, channel);
