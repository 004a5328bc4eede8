-- name: list_fields
-- Lists the fields that schemas of the contracts in force index.
SELECT DISTINCT s.rules ->> 'schema_id' AS schema_id, f.field
  FROM (SELECT DISTINCT ON (selector) document
          FROM mnestic.contract
         WHERE tenant_id = %(tenant_id)s
         ORDER BY selector, version DESC) AS latest,
       json_array_elements(latest.document #> '{Memory,long_term,schemas}') AS s (rules),
       json_array_elements_text(s.rules -> 'indexes') AS f (field)
 WHERE latest.document #>> '{Memory,long_term,enabled}' = 'true'
 ORDER BY schema_id, f.field
