-- A fragment of `superseded.sql`: whether the clauses of the entry e that make no claim have the greater part of the query's
-- words that it has, by weight. If a claim has no span, none of its clauses is known to make no claim.
COALESCE((
    SELECT sum(CASE WHEN q.lexeme = ANY(part.others) THEN q.weight WHEN q.lexeme = ANY(part.claiming) THEN - q.weight END) > 0
      FROM (SELECT tsvector_to_array(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(
                       string_agg(clause, ' ') FILTER (WHERE NOT makes_claim)))) AS others,
                   tsvector_to_array(to_tsvector(CAST(e.language AS regconfig), mnestic.words_apart(
                       string_agg(clause, ' ') FILTER (WHERE makes_claim)))) AS claiming
              FROM (SELECT clause, EXISTS (
                               SELECT FROM unnest(array_agg(claimed.span)) AS s (span)
                                WHERE COALESCE(CAST(s.span ->> 'start' AS integer) < ends
                                               AND CAST(s.span ->> 'end' AS integer) > ends - length(clause), true)) AS makes_claim
                      FROM (SELECT m.found[1] AS clause, sum(length(m.found[1])) OVER (ORDER BY m.place) AS ends
                              FROM regexp_matches(left(e.content, 100000), CAST(%(clause_pattern)s AS text), 'gi')
                                   WITH ORDINALITY AS m (found, place)) AS clause) AS clause) AS part
     CROSS JOIN unnest(CAST(%(query_lexemes)s AS text[]), CAST(%(query_lexeme_weights)s AS float8[])) AS q (lexeme, weight)),
    false)
