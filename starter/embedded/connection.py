"""Connects to Temporal: the embedded one, or one of your own.

The settings of your own server (namespace, keys, certificates) must reach that server and never the embedded one, which
knows none of them.
"""

import asyncio
import atexit
import os
import sys
import threading
import time
from collections.abc import Sequence

from temporalio.client import Client
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.plugin import SimplePlugin
from temporalio.runtime import Runtime
from temporalio.service import RPCError

from mnestic.memory.errors import ConfigurationError, TemporalUnavailableError

CONNECT_LIMIT_S = 10.0
_RETURN_LIMIT_S = 2.0  # for threads that run no Python of the program's own


async def connect(
    address: str,
    *,
    embedded: bool,
    plugins: Sequence[SimplePlugin] = (),
    runtime: Runtime | None = None,
) -> Client:
    """A client of the server at `address`; for one of your own, with the settings of `temporal`'s profile.

    Raises:
        TemporalUnavailableError: the server does not answer.
        ConfigurationError: the profile cannot be read.
    """
    profile: ClientConnectConfig = {} if embedded else load_profile()
    profile["target_host"] = address
    try:
        async with asyncio.timeout(CONNECT_LIMIT_S):
            return await Client.connect(**profile, plugins=plugins, runtime=runtime)
    except TimeoutError:
        why = f"no answer within {CONNECT_LIMIT_S:.0f} s"
        raise TemporalUnavailableError(where=address, why=why) from None
    except (RPCError, RuntimeError) as error:  # RuntimeError: the SDK could not connect
        raise TemporalUnavailableError(where=address, why=str(error)) from error


def load_profile() -> ClientConnectConfig:
    """Temporal's own settings: TEMPORAL_* variables and its configuration file.

    Raises:
        ConfigurationError: they cannot be read.
    """
    try:
        named = {key: value for key, value in os.environ.items() if value}  # an empty one is unset
        return ClientConfig.load_client_connect_config(override_env_vars=named)
    except (RuntimeError, OSError) as error:  # the SDK's own error is a RuntimeError
        setting = "TEMPORAL_* or Temporal's configuration file"
        raise ConfigurationError(setting=setting, why=str(error)) from error


def environment_for_embedded() -> dict[str, str]:
    """Our environment without what concerns a Temporal of your own."""
    return {key: value for key, value in os.environ.items() if not key.startswith("TEMPORAL_")}


@atexit.register
def _let_bridge_threads_return() -> None:
    """Has the SDK's threads return from Python before the interpreter ends.

    Such a thread hands an answer to the event loop. If it is still in there when the interpreter ends, it takes the
    process down with SIGABRT, after all was done well: one program in 15 on a busy machine (temporalio/sdk-python #300).
    """
    latest = time.monotonic() + _RETURN_LIMIT_S
    own = {thread.ident for thread in threading.enumerate()}
    while sys._current_frames().keys() - own and time.monotonic() < latest:  # noqa: SLF001 - documented
        time.sleep(0.001)  # nothing tells when a thread of another language leaves Python
