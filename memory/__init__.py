"""The vocabulary and the rules: models, ports, errors and pure functions. No I/O, no clock, no engine."""
