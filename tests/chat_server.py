"""A server on loopback that speaks OpenAI's API: what it answers, and what it was asked."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ChatServer:
    """A real HTTP server on loopback: what it is to answer, and what it was asked.

    With `answers`, it answers each request by its path and body: status, body, headers. The first answer waits for
    `together` requests, so that a test of calls side by side does not depend on how fast they come.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    body: bytes = b""
    requests: list[dict[str, Any]] = field(default_factory=list)
    silent: bool = False
    drips: bool = False
    released: threading.Event = field(default_factory=threading.Event)
    base_url: str = ""
    answers: Callable[[str, Any], tuple[int, Any, dict[str, str]]] | None = None
    together: int = 1
    pause_s: float = 0
    at_once: int = 0
    most_at_once: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def completes(self, content: str | None, **choice: Any) -> None:
        """Answer with one choice, in the API's shape."""
        message = {"role": "assistant", "content": content, "refusal": choice.pop("refusal", None)}
        self.sends(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": "served-model-0613",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message} | choice],
                "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
            }
        )

    def sends(self, body: Any) -> None:
        self.body = json.dumps(body).encode()

    def fails(
        self, status: int, message: str = "no", headers: Mapping[str, str] | None = None
    ) -> None:
        self.status = status
        self.headers |= headers or {}
        self.sends(
            {"error": {"message": message, "type": "some_error", "code": None, "param": None}}
        )


class _Server(ThreadingHTTPServer):
    told: ChatServer


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        told = self.server.told
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "null")
        with told.changed:
            told.at_once += 1
            told.most_at_once = max(told.most_at_once, told.at_once)
            told.requests.append(
                {"path": self.path, "authorization": self.headers["Authorization"], "body": body}
            )
            told.changed.notify_all()
            told.changed.wait_for(lambda: told.most_at_once >= told.together, timeout=30)
        told.released.wait(told.pause_s)
        with told.changed:
            told.at_once -= 1
        self._answer(told, body)

    def _answer(self, told: ChatServer, body: Any) -> None:
        if told.answers is not None:
            status, answer, headers = told.answers(self.path, body)
            self._send(status, json.dumps(answer).encode(), told.headers | headers)
            return
        if told.silent:
            told.released.wait(10)
            return
        self._send(told.status, told.body, told.headers, drips=told.drips)

    def _send(
        self, status: int, body: bytes, headers: Mapping[str, str], *, drips: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        for start in range(0, len(body), 1 if drips else 2**16):
            self.wfile.write(body[start : start + (1 if drips else 2**16)])
            if drips and self.server.told.released.wait(0.05):
                return

    def log_message(self, *_: object) -> None:
        """Tests read the recorded requests instead."""


@contextmanager
def running_chat_server() -> Iterator[ChatServer]:
    """A server that runs for as long as a block."""
    told = ChatServer()
    server = _Server(("127.0.0.1", 0), _Handler)
    server.told = told
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    told.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield told
    finally:
        told.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
