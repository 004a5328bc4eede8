"""Changes: which texts say that something is different from what earlier ones say, and what was so before."""
