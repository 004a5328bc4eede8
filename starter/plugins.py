"""The plugin of our clients and workers, as the settings want it.

Clients, workers and Replayers of a user's own need the same.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mnestic.starter.payloads.codec import EncryptionCodec
from mnestic.starter.payloads.keys import PayloadKeys
from mnestic.workflows.plugin import MnesticPlugin


def make_plugin(
    keys: PayloadKeys, *, tenant_id: str | None, activities: Sequence[Callable[..., Any]] = ()
) -> MnesticPlugin:
    """The plugin of our clients and workers, which encrypts what Temporal carries where a key is set."""
    return MnesticPlugin(
        activities=activities,
        tenant_id=tenant_id,
        codec=EncryptionCodec(keys),
        encodes_failures=keys.encrypts is not None,
    )
