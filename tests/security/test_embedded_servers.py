"""The embedded Temporal answers programs of this machine, and no web page that a browser here opens."""

import http.client
import json
import socket
from urllib.parse import urlsplit

import psutil
import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from mnestic.starter.embedded.state import RuntimeState

REBOUND = "rebound.example"  # a name of somebody's that resolves to 127.0.0.1
TIMEOUT_S = 10.0
WORKFLOW = "/api/v1/namespaces/default/workflows/from-a-web-page"
BODY = json.dumps({"workflowType": {"name": "Any"}, "taskQueue": {"name": "nobody"}})
# https://fetch.spec.whatwg.org/#port-blocking, those above 1023
BLOCKED = {
    *(1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566),
    *(6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
}
Place = tuple[str, int]


def ask(place: Place, path: str, *, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    """Status and body that a server answers; without `Host` in the headers, to its own address."""
    connection = http.client.HTTPConnection(*place, timeout=TIMEOUT_S)
    body = BODY if method == "POST" else None
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def exchange(place: Place, sent: bytes) -> bytes:
    """All that comes back on one connection."""
    received = b""
    with socket.create_connection(place, timeout=TIMEOUT_S) as connection:
        connection.sendall(sent)
        while chunk := connection.recv(1 << 16):
            received += chunk
    return received


@pytest.fixture
def ui(servers: RuntimeState) -> Place:
    """Where `mnestic up` says that the UI is."""
    address = urlsplit(servers.temporal_ui)
    assert isinstance(address.hostname, str)
    assert address.port is not None
    return address.hostname, address.port


@pytest.fixture
def places(servers: RuntimeState) -> list[Place]:
    """Wherever Temporal itself listens and speaks HTTP/1.1, as browsers do; its gRPC ports do not."""
    (pid,) = (mark.pid for mark in servers.parts if mark.name == "Temporal")
    listening = [
        (connection.laddr.ip, connection.laddr.port)
        for connection in psutil.Process(pid).net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    ]
    return [place for place in listening if _speaks_http(place)]


def _speaks_http(place: Place) -> bool:
    try:
        ask(place, "/none")
    except (http.client.HTTPException, OSError):
        return False
    return True


PATHS = ("/", "/namespaces", "/api/v1/namespaces", "/api/v1/settings")


def test_the_ui_answers_under_the_names_of_this_machine_alone(ui: Place) -> None:
    own = [
        name.format(*ui) for name in ("{}:{}", "localhost:{1}", "LOCALHOST:{1}", "localhost:9000")
    ]
    others = [f"{REBOUND}:{ui[1]}", REBOUND, *(f"{name}.{REBOUND}" for name in ("localhost", "127.0.0.1"))]  # fmt: skip
    others += [f"localhost:x.{REBOUND}:{ui[1]}", f"localhost@{REBOUND}", f"0.0.0.0:{ui[1]}", ""]

    for path in PATHS:
        for host in own:
            status, body = ask(ui, path, Host=host)
            assert (status, bool(body)) == (200, True), host
        for host in others:
            status, body = ask(ui, path, Host=host)
            assert status == 403, host
            assert f"Temporal UI of http://{ui[0]}:{ui[1]}".encode() in body
            assert b"MNESTIC_TEMPORAL_UI_URL" in body


def test_the_ui_is_used_by_its_own_page_and_by_no_other(ui: Place) -> None:
    own = f"http://{ui[0]}:{ui[1]}"

    status, body = ask(ui, "/api/v1/namespaces", Origin=own, **{"Sec-Fetch-Site": "same-origin"})

    assert status == 200
    assert b"default" in body
    for origin in ("http://evil.example", "null", "http://localhost:3000"):
        for method in ("GET", "POST", "OPTIONS"):
            status, body = ask(ui, WORKFLOW, method=method, Origin=origin, Authorization="none")
            assert status == 403
            assert b"Pages of other sites" in body


def test_a_connection_to_the_ui_carries_one_request_and_the_next_one_is_not_answered(
    ui: Place,
) -> None:
    first = f"GET /api/v1/settings HTTP/1.1\r\nHost: {ui[0]}:{ui[1]}\r\n\r\n"
    second = f"GET /api/v1/settings HTTP/1.1\r\nHost: {REBOUND}\r\n\r\n"

    received = exchange(ui, f"{first}{second}".encode())

    assert received.startswith(b"HTTP/1.1 200")
    assert received.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "head",
    [
        "Host: localhost\r\nHost: rebound.example",
        "Host: rebound.example\r\nHost: localhost",
        "X: y",
        "Host : localhost",
        "Host: localhost\r\n folded",
        "Host: localhost\nX: y",
        ": localhost\r\nHost: localhost",
        "no field\r\nHost: localhost",
    ],
)
def test_the_ui_refuses_a_request_that_could_be_read_in_two_ways(ui: Place, head: str) -> None:
    received = exchange(ui, f"GET /api/v1/settings HTTP/1.1\r\n{head}\r\n\r\n".encode())

    assert received.startswith((b"HTTP/1.1 400", b"HTTP/1.1 403"))


def test_a_web_page_reaches_no_other_server_of_temporal(places: list[Place]) -> None:
    open_places = [
        place for place in places if ask(place, "/api/v1/namespaces", Host=REBOUND)[0] == 200
    ]

    assert len(places) >= 2  # the HTTP API and the UI, behind its guard
    assert {port for _, port in open_places} <= BLOCKED


async def test_no_web_page_starts_a_workflow(
    servers: RuntimeState, ui: Place, places: list[Place]
) -> None:
    client = await Client.connect(str(servers.temporal_address))

    for kind in ("text/plain", "application/json"):
        headers = {"Content-Type": kind, "Origin": "http://evil.example"}
        answers = [ask(place, WORKFLOW, method="POST", **headers)[0] for place in (ui, *places)]
        assert 200 not in answers

    with pytest.raises(RPCError) as caught:
        await client.get_workflow_handle("from-a-web-page").describe()
    assert caught.value.status == RPCStatusCode.NOT_FOUND


def test_the_http_api_is_off_whatever_it_is_called(places: list[Place]) -> None:
    (api,) = [place for place in places if b"openapi" in ask(place, "/openapi.yaml")[1][:100]]

    for name in (f"{api[0]}:{api[1]}", "localhost", REBOUND, ""):
        read, _ = ask(api, "/api/v1/namespaces", Host=name)
        started, _ = ask(api, WORKFLOW, method="POST", Host=name)
        assert (read, started) == (403, 403)
    without_host = exchange(api, b"GET /api/v1/namespaces HTTP/1.0\r\n\r\n")
    assert without_host.startswith(b"HTTP/1.0 403")
