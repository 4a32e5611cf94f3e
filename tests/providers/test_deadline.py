"""A model that hangs does not hang the memory."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

import sfams
from sfams.core.view import Vector
from sfams.errors import ProviderError, ProviderUnavailableError
from sfams.providers.deadline import MOST_STUCK, DeadlineEmbedder
from sfams.testing.embedders import ScriptedEmbedder


class HangingEmbedder(ScriptedEmbedder):
    """Hangs until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        assert self.let_go.wait(60)
        return super().embed_passages(texts)


def test_in_time_it_is_the_inner_embedder() -> None:
    inner = ScriptedEmbedder({"a": [1.0, 0.0]}, dimension=2)
    timed = DeadlineEmbedder(inner, 30)
    assert (timed.model_id, timed.dimension) == (inner.model_id, 2)
    assert timed.calibration == inner.calibration
    assert timed.embed_passages(["a"]).tolist() == [[1.0, 0.0]]
    assert timed.embed_query("a").tolist() == [1.0, 0.0]
    inner.fail = True
    with pytest.raises(ProviderUnavailableError, match="scripted"):
        timed.embed_query("a")
    timed.close()


def test_a_memory_goes_on_without_the_model(tmp_path: Path) -> None:
    inner = HangingEmbedder()
    with sfams.open(tmp_path / "m.db", embedder=DeadlineEmbedder(inner, 0.05)) as memory:
        stored = memory.remember("The gate code is 4417.")
        assert not stored.embedded
        assert "no answer within 0.05 seconds" in stored.warnings[0]
        asked = memory.recall("gate code")
        assert asked[0].record.id == stored.id
        assert "by keywords only" in asked.warnings[0]
        inner.let_go.set()
        assert memory.remember("It answers again.").embedded
        memory.flush()
        assert memory.stats().pending == 0


def test_given_up_calls_do_not_pile_up() -> None:
    inner = HangingEmbedder()
    timed = DeadlineEmbedder(inner, 0.01)
    for _ in range(MOST_STUCK):
        with pytest.raises(ProviderUnavailableError, match="no answer within"):
            timed.embed_query("text")
    threads = threading.active_count()
    with pytest.raises(ProviderUnavailableError, match="have not come back"):
        timed.embed_query("text")
    assert threading.active_count() == threads
    inner.let_go.set()
    for thread in [t for t in threading.enumerate() if t.name == "sfams-embed"]:
        thread.join(10)
    assert len(DeadlineEmbedder(inner, 30).embed_query("text")) == 8
    assert len(timed.embed_query("text")) == 8


def test_an_inner_timeout_is_passed_on() -> None:
    class Impatient(ScriptedEmbedder):
        def embed_passages(self, texts: Sequence[str], /) -> Vector:
            raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        DeadlineEmbedder(Impatient(), 30).embed_query("text")


def test_a_process_ends_although_a_call_hangs() -> None:
    program = """
import threading, sfams
from sfams.providers.deadline import DeadlineEmbedder
from sfams.testing.embedders import ScriptedEmbedder
class Hanging(ScriptedEmbedder):
    def embed_passages(self, texts, /):
        threading.Event().wait()
memory = sfams.open(":memory:", embedder=DeadlineEmbedder(Hanging(), 0.05))
assert not memory.remember("It waits.").embedded
memory.close()
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert done.returncode == 0


def test_errors_are_provider_errors() -> None:
    assert issubclass(ProviderUnavailableError, ProviderError)
