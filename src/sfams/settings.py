"""Settings: one frozen value from a TOML file and then SFAMS_* variables; unknown names refused."""

from __future__ import annotations

import os
import sys
import tomllib
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from sfams.errors import InvalidInputError

PREFIX = "SFAMS_"
CONFIG_VARIABLE = "SFAMS_CONFIG"
DEFAULT_CONFIG = "sfams.toml"
LOCAL = ("bundled", "hashing", "none")
REMOTE = ("openai", "sentence-transformers", "fastembed")
"""Embedders of extras, written before the name of a model."""
_FOREIGN = {CONFIG_VARIABLE, "SFAMS_DATASETS"}
"""Variables that begin like ours and are not settings (typer's completion is `_SFAMS_COMPLETE`)."""


def unknown_embedder(name: str) -> str:
    """Say which embedders there are."""
    others = ", ".join(f"{each}:MODEL" for each in REMOTE)
    return f"{name[:80]!r} is not one of {', '.join(LOCAL)}, {others}"


class Settings(BaseSettings):
    """How SF-AMS runs. Later sources win: defaults, `sfams.toml` (or SFAMS_CONFIG), SFAMS_*, options."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    db: Path = Field(Path("sfams.db"), description="The SQLite file that holds the memory.")
    scope: str = Field("default", description="Whose memory: parts joined by /, the tenant first.")
    embedder: str = Field(
        "bundled",
        description="bundled: the multilingual model that comes with the package; hashing: no model; "
        "none: keywords only; openai:MODEL, sentence-transformers:MODEL, fastembed:MODEL (extras).",
    )
    embedder_url: str | None = Field(
        None, description="Of an OpenAI-compatible endpoint, up to before /embeddings."
    )
    embedder_key: SecretStr | None = Field(
        None, description="Key of the endpoint; without it OPENAI_API_KEY where there is no url."
    )
    embedder_dimension: int | None = Field(
        None,
        gt=0,
        description="Length of the model's vectors; without it the model is asked at opening.",
    )
    embedder_deadline: float = Field(
        30.0, gt=0, description="Seconds that an embedder of an extra may take for a call."
    )
    embedder_query_prefix: str | None = Field(
        None, description="Before questions; without it what E5 and BGE models ask for."
    )
    embedder_passage_prefix: str | None = Field(None, description="Before memories; likewise.")
    policy: str = Field("adaptive", description="The retention policy plans are made with.")
    budget_records: int | None = Field(
        None, ge=0, description="Hot records a scope may hold; empty keeps the policy's own budget."
    )
    budget_tokens: int | None = Field(
        None, ge=0, description="Hot tokens a scope may hold; empty keeps the policy's own budget."
    )

    sensitive: Literal["store", "redact", "refuse"] = Field(
        "store",
        description="What becomes of cards, passwords and codes in a text where no scope has a rule.",
    )

    extract_entities: bool = Field(
        default=True,
        description="Store the people, organisations and ids a text names where none are given.",
    )
    timezone: str = Field(
        "UTC", description="IANA zone in which texts name times without one: Europe/Berlin."
    )
    receipt_key: SecretStr | None = Field(
        None, description="Signs the receipts of erasures (HMAC); without it they are only chained."
    )

    cache_dir: Path | None = Field(
        None,
        description="Where benches keep vectors between runs; empty is the user's cache folder.",
    )

    @property
    def cache_folder(self) -> Path:
        """The folder for what can be made again: `cache_dir`, or `sfams` in the user's cache folder."""
        return self.cache_dir or _user_cache() / "sfams"

    @field_validator("embedder")
    @classmethod
    def _check_embedder(cls, name: str) -> str:
        provider, colon, model = name.partition(":")
        if (name in LOCAL) if not colon else (provider in REMOTE and model.strip()):
            return name
        raise ValueError(unknown_embedder(name))

    @field_validator("timezone")
    @classmethod
    def _check_timezone(cls, name: str) -> str:
        _zone(name)
        return name

    @property
    def zone(self) -> tzinfo:
        """The time zone by name."""
        return _zone(self.timezone)

    @classmethod
    def settings_customise_sources(  # pydantic calls it with these five
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  not wanted
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  not wanted
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read options first, then the environment, then the file; no .env, no secrets folder."""
        file = Path(os.environ.get(CONFIG_VARIABLE, DEFAULT_CONFIG))
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, file)


def _zone(name: str) -> tzinfo:
    # Systems without a database of zones know UTC all the same.
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"{name[:60]!r} is no IANA time zone such as Europe/Berlin"
        raise ValueError(message) from error


def _user_cache() -> Path:
    """Find the folder that the system has for caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def load_settings(**options: object) -> Settings:
    """Read the settings; options that are None count as not given.

    Raises:
        InvalidInputError: An unknown name, a value of the wrong form, or an unreadable file.
    """
    known = {PREFIX + name.upper() for name in Settings.model_fields} | _FOREIGN
    unknown = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
    if unknown:
        message = f"unknown setting {', '.join(unknown)}; known: {', '.join(sorted(known))}"
        raise InvalidInputError(message, field=unknown[0])
    named = os.environ.get(CONFIG_VARIABLE)
    if named and not Path(named).is_file():
        message = f"{CONFIG_VARIABLE}: there is no file {named}"
        raise InvalidInputError(message, field=CONFIG_VARIABLE)
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if isinstance(value, str) and not value.strip():
            message = f"{name}: is blank"
            raise InvalidInputError(message, field=name)
    try:
        return _with_openai_key(Settings(**given))  # type: ignore[arg-type]  # checked by pydantic
    except (ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(_describe(error)) from error


def _with_openai_key(settings: Settings) -> Settings:
    """Take OpenAI's own variable where no key is given; it goes to no other endpoint."""
    key = os.environ.get("OPENAI_API_KEY")
    if not key or settings.embedder_key is not None or settings.embedder_url is not None:
        return settings
    return settings.model_copy(update={"embedder_key": SecretStr(key)})


def _describe(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return f"{os.environ.get(CONFIG_VARIABLE, DEFAULT_CONFIG)}: not readable as TOML: {error}"
    problems = (
        f"{'.'.join(map(str, item['loc']))}: {item['msg'].removeprefix('Value error, ')}"
        for item in error.errors()
    )
    return "settings: " + "; ".join(problems)
