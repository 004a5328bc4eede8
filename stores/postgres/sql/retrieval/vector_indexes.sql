-- name: list_large
-- Reads the models of large memories, the largest first.
SELECT agent_id, model FROM mnestic.embedding_model WHERE tenant_id = %(tenant_id)s AND entries >= %(at_least)s
 ORDER BY entries DESC, agent_id, model

-- name: find_dimensions
-- Reads how long the vectors of a model are.
SELECT dimensions FROM mnestic.embedding WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND model = %(model)s LIMIT 1
