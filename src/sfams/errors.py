"""The whole error tree of SF-AMS on one screen.

SfamsError                          .retryable, .context
├── InvalidInputError (ValueError)  the caller must change the call
│   ├── InvalidPolicyError          a policy that contradicts itself
│   └── SensitiveContentError       the scope refuses what was found in the text
├── NotFoundError (LookupError)     not in this scope
├── ConflictError                   the state of the memory forbids it
│   ├── PlanStaleError              plan again
│   ├── RecordProtectedError        pinned or held
│   └── BlastRadiusError            more than the policy allows in one run
├── StoreError                      the database failed
│   ├── StoreUnavailableError       busy, full, read-only or closed; retryable
│   ├── SchemaMismatchError         not our database, or made by a newer release
│   └── ModelMismatchError          its vectors are from another embedding model
└── ProviderError                   an embedder, judge or summarizer failed
    └── ProviderUnavailableError    not installed or out of reach; retryable

Messages name fields, ids and limits, never the text of a memory. Status codes and exit codes
belong to the faces, one table each.
"""

from __future__ import annotations


class SfamsError(Exception):
    """SF-AMS could not do what was asked."""

    retryable: bool = False

    def __init__(self, message: str | None = None, **context: object) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())
        self.context: dict[str, object] = context


class InvalidInputError(SfamsError, ValueError):
    """The input is not acceptable; change the call."""


class InvalidPolicyError(InvalidInputError):
    """The policy contradicts itself or names a value out of range."""


class SensitiveContentError(InvalidInputError):
    """The scope refuses texts with what was found in this one; leave it out or change the rule."""


class NotFoundError(SfamsError, LookupError):
    """There is no such thing in this scope."""


class ConflictError(SfamsError):
    """The present state of the memory forbids this."""


class PlanStaleError(ConflictError):
    """The plan no longer fits the memory; make a new one."""


class RecordProtectedError(ConflictError):
    """The memory is pinned or held."""


class BlastRadiusError(ConflictError):
    """The plan takes more of the scope than the policy allows in one run."""


class StoreError(SfamsError):
    """The store failed."""


class StoreUnavailableError(StoreError):
    """The store cannot be written or read right now."""

    retryable = True


class SchemaMismatchError(StoreError):
    """The file is not an SF-AMS store of a version this release understands."""


class ModelMismatchError(StoreError):
    """The store's vectors are from another embedding model than the one in use."""


class ProviderError(SfamsError):
    """An embedder, judge or summarizer failed."""


class ProviderUnavailableError(ProviderError):
    """The provider is not installed or cannot be reached."""

    retryable = True
