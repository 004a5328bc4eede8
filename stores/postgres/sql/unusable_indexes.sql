-- The indexes that no query can use, but for those that are being built.
  FROM pg_index AS i
  JOIN pg_class AS c ON c.oid = i.indexrelid
 WHERE c.relnamespace = to_regnamespace('mnestic') AND NOT (i.indisvalid AND i.indisready)
   AND i.indexrelid NOT IN (SELECT index_relid FROM pg_stat_progress_create_index)
