-- Reads which indexes are bloated, the largest first.
-- The size of a B-tree beside the one that its rows need: per row a header of 8 bytes and the columns, together a multiple of 8,
-- and a pointer of 4 bytes; per page 40 bytes of headers, and as much free as its fillfactor leaves. Equal keys, which Postgres stores
-- once, need less, so the estimate is too low rather than too high. Indexes of a column without statistics are left out.
-- Source: https://wiki.postgresql.org/wiki/Index_Maintenance, https://github.com/ioguix/pgsql-bloat-estimation
WITH btree AS (
    SELECT c.oid, c.relname AS name, i.indrelid, c.reltuples AS rows, pg_relation_size(c.oid) AS size,
           COALESCE((SELECT CAST(split_part(option, '=', 2) AS float8) / 100 FROM unnest(c.reloptions) AS option
                      WHERE starts_with(option, 'fillfactor=')), 0.9) AS filled
      FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS m ON m.oid = c.relam
     WHERE c.relnamespace = 'mnestic'::regnamespace AND m.amname = 'btree' AND i.indisvalid AND c.reltuples > 0
),
widths AS (
    SELECT b.oid, 8 * ceil((8 + sum(s.avg_width * (1 - s.null_frac))) / 8) + 4 AS row
      FROM btree AS b JOIN pg_index AS i ON i.indexrelid = b.oid JOIN pg_class AS c ON c.oid = i.indrelid
      JOIN pg_attribute AS a ON a.attrelid = b.oid
      LEFT JOIN pg_attribute AS t ON t.attrelid = i.indrelid AND t.attnum = i.indkey[a.attnum - 1] AND t.attnum <> 0
      LEFT JOIN pg_stats AS s ON s.schemaname = 'mnestic' AND NOT s.inherited
       AND s.tablename = CASE WHEN t.attnum IS NULL THEN b.name ELSE c.relname END
       AND s.attname = COALESCE(t.attname, a.attname)
     GROUP BY b.oid HAVING bool_and(s.avg_width IS NOT NULL)
),
needs AS (
    SELECT b.name, b.size,
           CAST(page.bytes * (1 + ceil(b.rows * w.row / ((page.bytes - 40) * b.filled))) AS bigint) AS needed
      FROM btree AS b JOIN widths AS w ON w.oid = b.oid
      CROSS JOIN (SELECT CAST(current_setting('block_size') AS float8) AS bytes) AS page
)
SELECT name, size, needed FROM needs WHERE size >= %(least)s AND size * (1 - CAST(%(bloat)s AS float8)) > needed
 ORDER BY size DESC, name COLLATE "C"
