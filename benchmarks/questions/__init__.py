"""Questions on nine invented settings: what comes back by default settings, by the kind of question."""
