"""Policies by name, each made anew for every replay, with where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from sfams.core.models.adaptive import Adaptive
from sfams.core.models.linear import Linear, classic
from sfams.core.presets import WINDOW
from sfams.lab.policies.base import Arrival, Baseline, LabPolicy
from sfams.lab.policies.caches import SIMPLE, Random, simple
from sfams.lab.policies.memories import ActR, importance_only, memorybank, memorybank_released
from sfams.lab.policies.product import Product

__all__ = [
    "IMPORTANCE",
    "KEEP_EVERYTHING",
    "POLICIES",
    "PRODUCT",
    "RANDOM",
    "Arrival",
    "Baseline",
    "LabPolicy",
    "Policy",
]

RANDOM = "random"
IMPORTANCE = "importance only"
KEEP_EVERYTHING = "keep everything"
PRODUCT = (
    "adaptive",
    "adaptive, no window",
    "adaptive, no prior",
    "linear",
    "linear, no prior",
    "classic",
    "classic, no prior",
)


@dataclass(frozen=True, slots=True)
class Policy:
    """How to make a policy from a seed, where it comes from, and whether the seed matters."""

    build: Callable[[int], LabPolicy]
    source: str
    seeded: bool = False
    bounded: bool = True
    """False: it is given no budget."""


def _fixed(make: Callable[[], LabPolicy], source: str, *, bounded: bool = True) -> Policy:
    return Policy(lambda _: make(), source, bounded=bounded)


_CACHES = "Silberschatz et al., Operating System Concepts"
_SOURCES = {
    "FIFO": _CACHES,
    "keep-first": "stop writing when full",
    "LRU": _CACHES,
    "LFU": _CACHES,
    "longest": "control: the cheat of a budget in records",
    "shortest": "control: the cheat of a budget in tokens",
}

POLICIES: Mapping[str, Policy] = {
    KEEP_EVERYTHING: _fixed(partial(simple, "FIFO"), "no budget", bounded=False),
    RANDOM: Policy(Random, "Vitter 1985, reservoir sampling", seeded=True),
    **{name: _fixed(partial(simple, name), _SOURCES[name]) for name in SIMPLE},
    IMPORTANCE: _fixed(importance_only, "the product's content prior"),
    "MemoryBank": _fixed(memorybank, "Zhong et al. 2024, arXiv 2305.10250"),
    "MemoryBank, released": _fixed(memorybank_released, "its code at cf61c41"),
    "ACT-R": _fixed(ActR, "Anderson et al. 2004"),
    "adaptive": _fixed(lambda: Product("adaptive", Adaptive(), window=WINDOW), "the product"),
    "adaptive, no window": _fixed(
        lambda: Product("adaptive, no window", Adaptive()), "the product, in part"
    ),
    "adaptive, no prior": _fixed(
        lambda: Product("adaptive, no prior", Adaptive(), prior=False, window=WINDOW),
        "the product, in part",
    ),
    "linear": _fixed(lambda: Product("linear", Linear()), "the product"),
    "linear, no prior": _fixed(
        lambda: Product("linear, no prior", Linear(), prior=False), "the product, in part"
    ),
    "classic": _fixed(lambda: Product("classic", classic()), "the product"),
    "classic, no prior": _fixed(
        lambda: Product("classic, no prior", classic(), prior=False), "the product"
    ),
}
"""Every policy that can be named; the two oracles are bounds, not policies (`oracles`)."""
