"""Long-term records with rules: the form of their values, and the filters that find them."""
