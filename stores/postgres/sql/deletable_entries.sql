-- The archived entries that a cleanup deletes next, by id.
WITH
-- include waiting_roots
-- include deletable
   AND a.id > %(after)s
 ORDER BY a.id LIMIT CAST(%(limit)s AS integer)
