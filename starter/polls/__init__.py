"""A worker's polls: what waits in memory is started or sent, whoever put it there."""
