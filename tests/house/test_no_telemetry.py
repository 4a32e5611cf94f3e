"""Nothing leaves the machine unless the user names a server."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "sfams"

NETWORK = {"aiohttp", "http", "httpx", "requests", "smtplib", "socket", "ssl", "urllib", "urllib3"}
HARMLESS = {"http.HTTPStatus", "urllib.parse"}

# Modules that may speak to a server, because a user who names one asks them to.
ALLOWED: dict[str, set[str]] = {}

# Runs in a process of its own, where an audit hook hears of every socket, below any library.
SESSION = """
import json, sys

attempts = []

calls = "connect getaddrinfo gethostbyname sendto sendmsg".split()
outward = {f"socket.{call}" for call in calls}

def listen(event, arguments):
    if event in outward:
        attempts.append(f"{event} {arguments[1:]!r}")
        raise ConnectionRefusedError("this test has no network")

sys.addaudithook(listen)

if sys.argv[1] == "self-test":
    import socket
    try:
        socket.create_connection(("192.0.2.1", 9))
    except OSError:
        pass
else:
    import sfams
    with sfams.open(sys.argv[1], scope="acme/me", embedder="hashing") as memory:
        memory.remember("The release of the billing service is due on 12 March.")
        memory.remember("Alice prefers short answers.")
        memory.recall("When is the release due?")
        memory.forget(memory.plan_forgetting().id)

print(json.dumps(attempts))
"""


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reaches_out(name: str) -> bool:
    harmless = any(name == each or name.startswith(f"{each}.") for each in HARMLESS)
    return name.partition(".")[0] in NETWORK and not harmless


def attempts_of(argument: str, home: Path) -> list[str]:
    """The connections that one session tried to open."""
    environment = {"HOME": str(home), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", SESSION, argument]
    done = subprocess.run(
        command, env=environment, cwd=home, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    attempts: list[str] = json.loads(done.stdout.splitlines()[-1])
    return attempts


def test_only_named_modules_import_network_code() -> None:
    found = {}
    for path in SOURCE.rglob("*.py"):
        names = set(filter(reaches_out, imports(ast.parse(path.read_text("utf-8")))))
        place = path.relative_to(SOURCE).as_posix()
        if extra := names - ALLOWED.get(place, set()):
            found[place] = sorted(extra)
    assert found == {}


def test_imports_inside_functions_are_seen_and_parsing_an_address_is_harmless() -> None:
    lines = ["import http.client", "from urllib.parse import quote", "from . import socket"]
    source = "\n    ".join(["def f():", *lines])
    assert list(filter(reaches_out, imports(ast.parse(source)))) == ["http.client"]


def test_the_session_hears_a_connection(tmp_path: Path) -> None:
    assert len(attempts_of("self-test", tmp_path)) == 1


def test_a_whole_session_opens_no_connection(tmp_path: Path) -> None:
    assert attempts_of(str(tmp_path / "memory.db"), tmp_path) == []
