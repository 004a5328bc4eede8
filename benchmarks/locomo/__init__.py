"""The benchmark on LoCoMo: its questions, the measurement, and plain searches beside it."""
