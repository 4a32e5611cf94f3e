"""Settings: one frozen value from a TOML file and then SFAMS_* variables; unknown names refused."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError
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
_FOREIGN = {CONFIG_VARIABLE, "SFAMS_DATASETS"}
"""Variables that begin like ours and are not settings (typer's completion is `_SFAMS_COMPLETE`)."""


class Settings(BaseSettings):
    """How SF-AMS runs. Later sources win: defaults, `sfams.toml` (or SFAMS_CONFIG), SFAMS_*, options."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    db: Path = Field(Path("sfams.db"), description="The SQLite file that holds the memory.")
    scope: str = Field("default", description="Whose memory: parts joined by /, the tenant first.")
    embedder: Literal["bundled", "hashing"] = Field(
        "bundled",
        description="bundled: the multilingual model that comes with the package; hashing: no model.",
    )
    policy: Literal["default", "budget", "classic"] = Field(
        "default", description="The retention policy plans are made with."
    )
    budget_records: int | None = Field(
        None, ge=0, description="Hot records a scope may hold; empty keeps the policy's own budget."
    )
    budget_tokens: int | None = Field(
        None, ge=0, description="Hot tokens a scope may hold; empty keeps the policy's own budget."
    )

    cache_dir: Path | None = Field(
        None,
        description="Where benches keep vectors between runs; empty is the user's cache folder.",
    )

    @property
    def cache_folder(self) -> Path:
        """The folder for what can be made again: `cache_dir`, or `sfams` in the user's cache folder."""
        return self.cache_dir or _user_cache() / "sfams"

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
        return Settings(**given)  # type: ignore[arg-type]  # checked by pydantic
    except (ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(_describe(error)) from error


def _describe(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return f"{os.environ.get(CONFIG_VARIABLE, DEFAULT_CONFIG)}: not readable as TOML: {error}"
    problems = (f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
    return "settings: " + "; ".join(problems)
