"""The command as a process of its own: encodings, pipes, signals."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sfams

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
TEXT = f"打印机在二楼 {FAMILY} café"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "SFAMS_DB": str(tmp_path / "memory.db"),
        "SFAMS_EMBEDDER": "hashing",
    }


def run(
    environment: dict[str, str], *arguments: str | bytes, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "sfams", *arguments]
    return subprocess.run(
        command,
        env=environment,
        cwd=environment["HOME"],
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_any_locale_prints_utf8(environment: dict[str, str]) -> None:
    plain = environment | {"LANG": "C"}
    assert run(plain, "remember", "-", given=TEXT.encode()).returncode == 0
    for odd in ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}):
        done = run(plain | odd, "ls", "--json")
        assert (done.returncode, done.stderr) == (0, b"")
        assert json.loads(done.stdout.decode())["records"][0]["content"] == TEXT
        assert TEXT in done.stdout.decode()


def test_bytes_that_are_no_text_are_refused(environment: dict[str, str]) -> None:
    done = run(environment, "remember", b"caf\xe9", "--json")
    assert (done.returncode, done.stdout) == (2, b"")
    assert json.loads(done.stderr)["error"]["type"] == "InvalidInputError"


def test_a_reader_that_leaves_is_no_error(environment: dict[str, str]) -> None:
    with sfams.open(environment["SFAMS_DB"], embedder="hashing") as memory:
        memory.remember(TEXT)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "sfams", "ls"],
        env=environment,
        cwd=environment["HOME"],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_interrupt_ends_with_130(environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _SLOW],
        env=environment,
        cwd=environment["HOME"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (130, b"", b"")


# Says when it waits for standard input, so that the test need not guess. A shell's background jobs ignore
# interrupts, and so would their children.
_SLOW = """
import signal
import sys
from sfams.cli import remembering
from sfams.cli.app import main

signal.signal(signal.SIGINT, signal.default_int_handler)

def read():
    print("waiting", flush=True)
    sys.stdin.buffer.read()

remembering._stdin_text = read
sys.argv = ["sfams", "remember", "-"]
main()
"""
