"""Which process runs which tests of `make test`: each runs on its own, but for those that share a costly world."""

from xdist.scheduler import LoadScopeScheduling

# What is made once a process: with all its tests in one process, it is made once.
_TOGETHER = {"tests/security/test_tenant_": "victim"}


class WorldScheduling(LoadScopeScheduling):
    """Hands out tests one by one, and at first those that share a world, which one process gets."""

    def _split_scope(self, nodeid: str) -> str:
        worlds = (world for start, world in _TOGETHER.items() if nodeid.startswith(start))
        return next(worlds, nodeid)
