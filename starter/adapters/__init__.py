"""Memory for agents that are written in a framework: a module for each, which needs its extra."""
