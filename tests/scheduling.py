"""Which process runs which tests of `make test`: each runs on its own, but for those that share a costly world."""

from xdist.scheduler import LoadScopeScheduling

# What is made once a process: with all its tests in one process, it is made once.
_TOGETHER = (
    "tests/house/test_reference",
    "tests/house/test_style",
    "tests/security/test_tenant_",
    "tests/security/test_texts",
    "tests/stores/retrieval/test_search_plans",
    "tests/stores/test_rights",
    "tests/stores/test_schema",
)


class WorldScheduling(LoadScopeScheduling):
    """Hands out tests one by one, and at first those that share a world, which one process gets."""

    def _split_scope(self, nodeid: str) -> str:
        return next((world for world in _TOGETHER if nodeid.startswith(world)), nodeid)
