"""A real HTTP server on loopback that answers chat completions as it is told to."""

import json
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from openai import AsyncOpenAI

from mnestic.activities.clients.openai_compatible import openai_client


@dataclass
class ChatServer:
    """What the server is to answer, and what it was asked."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    body: bytes = b""
    requests: list[dict[str, Any]] = field(default_factory=list)
    silent: bool = False
    drips: bool = False
    released: threading.Event = field(default_factory=threading.Event)
    base_url: str = ""

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

    def do_POST(self) -> None:
        told = self.server.told
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told.requests.append(
            {"path": self.path, "authorization": self.headers["Authorization"], "body": body}
        )
        if told.silent:
            told.released.wait(10)
            return
        self.send_response(told.status)
        for name, value in {**told.headers, "Content-Length": str(len(told.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        for start in range(0, len(told.body), 1 if told.drips else 2**16):
            self.wfile.write(told.body[start : start + (1 if told.drips else 2**16)])
            if told.drips and told.released.wait(0.05):
                return

    def log_message(self, *_: object) -> None:
        """Tests read the recorded requests instead."""


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    told = ChatServer()
    server = _Server(("127.0.0.1", 0), _Handler)
    server.told = told
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    told.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    yield told
    told.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
async def client(chat_server: ChatServer) -> AsyncIterator[AsyncOpenAI]:
    made = openai_client(api_key="sk-secret-0123", base_url=chat_server.base_url)
    yield made
    await made.close()
