-- name: lock
-- Locks the contract of a selector until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended(%(lock)s, 0)) AS locked

-- name: find
-- Finds a version of a contract, or the latest.
SELECT selector, version, document, sha256, applied_by, applied_at
  FROM mnestic.contract
 WHERE tenant_id = %(tenant_id)s AND selector = %(selector)s
   AND version = %(version)s -- if version
 ORDER BY version DESC
 LIMIT 1

-- name: list_current
-- Lists the contracts in force: the latest version of each selector, without those that were taken away.
SELECT *
  FROM (SELECT DISTINCT ON (selector) selector, version, document, sha256, applied_by, applied_at
          FROM mnestic.contract
         WHERE tenant_id = %(tenant_id)s
         ORDER BY selector, version DESC) AS latest
 WHERE document IS NOT NULL
 ORDER BY selector

-- name: find_for
-- Finds the contract in force for an agent.
SELECT selector, version, document, sha256, applied_by, applied_at
  FROM mnestic.contract_of(%(tenant_id)s, %(of_agent)s)

-- name: list_versions
-- Lists the versions of a contract, the latest first.
SELECT selector, version, document, sha256, applied_by, applied_at
  FROM mnestic.contract
 WHERE tenant_id = %(tenant_id)s AND selector = %(selector)s
   AND version < CAST(%(before)s AS integer) -- if before
 ORDER BY version DESC
 LIMIT %(limit)s

-- name: add
-- Adds the next version.
INSERT INTO mnestic.contract (tenant_id, selector, version, document, sha256, applied_by, applied_at)
SELECT %(tenant_id)s, %(selector)s, COALESCE(max(version), 0) + 1, CAST(%(document)s AS json), %(sha256)s, %(applied_by)s, now()
  FROM mnestic.contract
 WHERE tenant_id = %(tenant_id)s AND selector = %(selector)s
RETURNING selector, version, document, sha256, applied_by, applied_at
