"""Strategic forgetting for the structured memory of LLM agents.

`sfams.open("memory.db", scope="acme/alice")` gives a `Memory`; its verbs are remember, recall, context,
reinforce, supersede, plan_forgetting, forget, restore, explain, erase, pin and hold.
"""

from sfams.bootstrap import build, open_async, reindex
from sfams.bootstrap import open_memory as open  # noqa: A004  `sfams.open` reads like `gzip.open`
from sfams.core.context import ContextBlock
from sfams.core.draft import Draft
from sfams.core.models.linear import Linear
from sfams.core.plan import Action, ForgettingPlan, ForgettingStep, Receipt
from sfams.core.policy import Budget, RetentionPolicy
from sfams.core.presets import preset
from sfams.core.query import Hit, RecallResult
from sfams.core.record import Kind, MemoryRecord, Status, Tier
from sfams.core.scope import Scope
from sfams.errors import (
    BlastRadiusError,
    ConflictError,
    InvalidInputError,
    InvalidPolicyError,
    ModelMismatchError,
    NotFoundError,
    PlanStaleError,
    ProviderError,
    ProviderUnavailableError,
    RecordProtectedError,
    SchemaMismatchError,
    SensitiveContentError,
    SfamsError,
    StoreError,
    StoreUnavailableError,
)
from sfams.service.aio import AsyncMemory
from sfams.service.memory import Memory
from sfams.service.reindexing import ReindexReport
from sfams.service.results import (
    EraseReceipt,
    Explanation,
    Listing,
    RememberResult,
)
from sfams.settings import Settings, load_settings

__all__ = [
    "Action",
    "AsyncMemory",
    "BlastRadiusError",
    "Budget",
    "ConflictError",
    "ContextBlock",
    "Draft",
    "EraseReceipt",
    "Explanation",
    "ForgettingPlan",
    "ForgettingStep",
    "Hit",
    "InvalidInputError",
    "InvalidPolicyError",
    "Kind",
    "Linear",
    "Listing",
    "Memory",
    "MemoryRecord",
    "ModelMismatchError",
    "NotFoundError",
    "PlanStaleError",
    "ProviderError",
    "ProviderUnavailableError",
    "RecallResult",
    "Receipt",
    "RecordProtectedError",
    "ReindexReport",
    "RememberResult",
    "RetentionPolicy",
    "SchemaMismatchError",
    "Scope",
    "SensitiveContentError",
    "Settings",
    "SfamsError",
    "Status",
    "StoreError",
    "StoreUnavailableError",
    "Tier",
    "build",
    "load_settings",
    "open",
    "open_async",
    "preset",
    "reindex",
]
