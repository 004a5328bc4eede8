"""Keeps memory: each store implements a port of `mnestic.memory.ports`."""
