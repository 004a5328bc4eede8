"""A vault on disk, and the same one behind a server that speaks as the plugin Local REST API does."""

import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from pydantic import SecretStr

from mnestic.memory.retrieval.ports import NoteSource
from mnestic.stores.notes.folder import FolderVault
from mnestic.stores.notes.rest_api import RestVault

CERTIFICATES = Path(__file__).parent / "certificates"
FINGERPRINT = (
    "C7:25:9F:EA:EF:2B:02:18:DE:F7:8C:2E:65:BE:C7:6F:"
    "80:D8:FB:E4:B0:08:E2:E8:B8:19:99:73:A4:F7:B8:88"
)
KEY = "secret-key"
# Each note's text, and its tags as Obsidian tells them.
NOTES: dict[str, tuple[str, list[str]]] = {
    "Profile.md": ("---\nborn: 1990\n---\nI am Mara. I live in Ghent.", []),
    "People/Jonas.md": (
        "---\ntags: [mnestic, friends]\n---\nJonas plays chess.",
        ["mnestic", "friends"],
    ),
    "Work.md": ("Tidal Atlas is where I work. #mnestic/work", ["mnestic/work"]),
    "Loud.md": ("A tag in capitals. #Mnestic", ["Mnestic"]),
    "Other.md": ("Nothing to tell. #mnesticism #other", ["mnesticism", "other"]),
    "Döner & Co?.md": ("Sauce without garlic. #food", ["food"]),
}


@dataclass
class Plugin:
    """What the server has, what it was asked, and how it misbehaves."""

    notes: dict[str, tuple[str, list[str]]] = field(default_factory=lambda: dict(NOTES))
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""
    silent: bool = False
    drips: bool = False
    drips_headers: bool = False
    answer: tuple[int, bytes] | None = None
    released: threading.Event = field(default_factory=threading.Event)


class _Server(ThreadingHTTPServer):
    plugin: Plugin

    def handle_error(self, *_: object) -> None:
        """A client that trusts nobody here hangs up, as it should."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        note = self.server.plugin.notes.get(unquote(self.path.removeprefix("/vault/")))
        self._answer(404 if note is None else 200, note[0].encode() if note else b"{}")

    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/search/"
        assert self.headers["Content-Type"] == "application/vnd.olrapi.jsonlogic+json"
        told = [
            {"filename": path, "result": result}
            for number, (path, (_, tags)) in enumerate(self.server.plugin.notes.items())
            if (result := logic(query, {"tags": tags, "stat": {"mtime": 1000 - number}}))
        ]
        self._answer(200, json.dumps(told).encode())

    def _answer(self, status: int, body: bytes) -> None:
        plugin = self.server.plugin
        plugin.asked.append((self.path, self.headers["Authorization"]))
        if plugin.silent:
            plugin.released.wait(10)
            return
        if self.headers["Authorization"] != f"Bearer {KEY}":
            status, body = 401, b'{"errorCode": 40101}'
        status, body = plugin.answer or (status, body)
        if plugin.drips_headers:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
            while not plugin.released.wait(0.05):
                self.wfile.write(b"x")
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for byte in body if plugin.drips else ():
            self.wfile.write(bytes([byte]))
            if plugin.released.wait(0.05):
                return
        if not plugin.drips:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Tests read what was asked instead."""


def logic(rule: Any, data: Any) -> Any:
    """JsonLogic with the plugin's `regexp`, as far as notes are searched by it."""
    if not isinstance(rule, dict):
        return rule
    ((name, told),) = rule.items()
    if name == "var":
        for part in filter(None, told.split(".")):
            data = data[part]
        return data
    if name == "if":
        return logic(told[1 if logic(told[0], data) else 2], data)
    if name == "some":
        return any(logic(told[1], one) for one in logic(told[0], data))
    assert name == "regexp"
    return re.search(told[0], logic(told[1], data)) is not None


@pytest.fixture
def serve() -> Iterator[Callable[..., Plugin]]:
    """Starts servers on loopback, each with a certificate that it signed itself."""
    started: list[tuple[_Server, threading.Thread]] = []

    def start(certificate: str = "vault") -> Plugin:
        plugin = Plugin()
        server = _Server(("127.0.0.1", 0), _Handler)
        server.daemon_threads = True
        server.plugin = plugin
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATES / f"{certificate}.pem")
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        started.append((server, thread))
        plugin.url = f"https://127.0.0.1:{server.server_port}"
        return plugin

    yield start
    for server, thread in started:
        server.plugin.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def plugin(serve: Callable[..., Plugin]) -> Plugin:
    return serve()


@pytest.fixture
def by_api(plugin: Plugin) -> Callable[..., RestVault]:
    """Makes the source that reads the server, its certificate pinned unless it is said otherwise."""

    def make(**changes: Any) -> RestVault:
        chosen = {
            "api_key": SecretStr(KEY),
            "fingerprint": FINGERPRINT,
            "timeout": timedelta(seconds=5),
        }
        return RestVault(plugin.url, **(chosen | changes))

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The vault on disk, the last of its notes the one that changed first."""
    vault = tmp_path / "vault"
    for path, (text, _) in NOTES.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, encoding="utf-8")
    return vault


@pytest.fixture(params=["folder", "api"])
def source(
    request: pytest.FixtureRequest, folder: Path, by_api: Callable[..., RestVault]
) -> NoteSource:
    """Each source of the same notes."""
    return FolderVault(folder) if request.param == "folder" else by_api()
