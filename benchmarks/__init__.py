"""How fast and how large: measured on this machine, each figure beside its floor."""
