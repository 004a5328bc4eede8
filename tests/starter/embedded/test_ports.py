"""Which port is chosen, and who has the one that was asked for."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from mnestic.memory.errors import InUseError
from mnestic.starter.embedded.ports import (
    BLOCKED_BY_BROWSERS,
    LOOPBACK,
    choose_port,
    choose_socket_folder,
    find_hidden_port,
    is_free,
    listens,
)


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server((LOOPBACK, 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def free() -> int:
    with socket.create_server((LOOPBACK, 0)) as server:
        port: int = server.getsockname()[1]
    return port


def test_a_taken_port_that_was_asked_for_is_refused_with_its_holder(taken: int) -> None:
    with pytest.raises(InUseError) as caught:
        choose_port(taken, option="MNESTIC_UI_PORT", last=None, first=1)

    assert f"port {taken} is in use by" in str(caught.value)
    assert f"pid {os.getpid()}" in str(caught.value)
    assert "MNESTIC_UI_PORT" in str(caught.value)


def test_the_last_port_is_used_again(free: int) -> None:
    assert choose_port(None, option="", last=free, first=1) == free


def test_a_taken_first_port_makes_way_for_a_later_one(taken: int) -> None:
    port = choose_port(None, option="", last=taken, first=taken)

    assert port > taken
    assert is_free(port)


def test_only_the_process_that_listens_counts_as_listening(taken: int, free: int) -> None:
    assert listens(os.getpid(), taken)
    assert not listens(os.getpid(), taken, free)
    assert not listens(os.getppid(), taken)


def test_two_servers_never_get_one_port(taken: int) -> None:
    with pytest.raises(InUseError, match="other server"):
        choose_port(7777, option="MNESTIC_UI_PORT", last=None, first=1, but_not=7777)

    first = choose_port(None, option="", last=None, first=taken)
    assert choose_port(None, option="", last=first, first=first, but_not=first) != first


def test_a_hidden_port_is_none_that_is_taken() -> None:
    host, port = choose_socket_folder()
    with ExitStack() as stack:
        for other in set(BLOCKED_BY_BROWSERS) - {port}:
            stack.enter_context(socket.create_server((host, other)))

        assert find_hidden_port(host) == port
        stack.enter_context(socket.create_server((host, port)))
        assert find_hidden_port(host) is None
