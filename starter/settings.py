"""The settings: one class, read from the environment and from `.env`.

Only the two composition roots and the command line may read them; what a workflow decides by travels in its input.
"""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import AliasChoices, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from mnestic.memory.errors import ConfigurationError
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.scope import Id, check_id
from mnestic.starter.machine import cache_bytes
from mnestic.starter.setting_secrecy import HOW_SHOWN

WorkerRole = Literal["all", "jobs", "maintenance"]
ENV_FILE = ".env"  # in the working directory


def _names(value: object) -> object:
    """The names of a list that is written as text, separated by commas."""
    return (
        tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value
    )


class Settings(BaseSettings):
    """The settings in force; `mnestic config` prints them with the source of each value."""

    model_config = SettingsConfigDict(
        env_prefix="MNESTIC_",
        env_file=ENV_FILE,
        env_ignore_empty=True,  # an empty variable counts as unset
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("mnestic", appauthor=False)),
        description="Folder of the embedded runtime's databases and logs; default: the user data directory",
    )
    tenant_id: str = Field("default", description="The tenant of every read and write")
    task_queue: str = Field("mnestic", description="Temporal task queue of jobs and activities")
    deployment: str = Field(
        "mnestic",
        pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$",
        description="Name of the workers' deployment in Temporal, to which builds belong",
    )
    build_id: str | None = Field(
        None,
        pattern="^[A-Za-z0-9][A-Za-z0-9._@:+-]{0,127}$",
        description="Build id of a worker's code; its jobs are pinned to it. Default: not versioned",
    )
    tenant_weight: float | None = Field(
        None,
        ge=0.001,
        le=1000,
        description="Weight of the tenant's jobs when tenants take turns; default: 1",
    )
    database_url: SecretStr | None = Field(
        None, description="Address of your Postgres; default: the embedded one"
    )
    database_admin_url: SecretStr | None = Field(
        None,
        description="The same, with the role that owns the schema, for migrations; default: MNESTIC_DATABASE_URL",
    )
    cache_bytes: int = Field(
        default_factory=cache_bytes,
        ge=0,
        description="Bytes of answers and query vectors that a process may cache; 0: none; default: a 32nd of the "
        "machine's or container's memory, 256 MiB to 1 GiB, never more than a quarter",
    )
    backup_directory: Path | None = Field(
        None,
        description="Folder of backups, for `mnestic backup` and the Schedule of the same name; default: no Schedule, and with the "
        "embedded runtime a folder beside the data directory, whose name ends with -backups",
    )
    backup_copy_directory: Path | None = Field(
        None,
        description="Second folder, on another disk, that each backup is copied to; default: none",
    )
    backup_bucket: str | None = Field(
        None,
        description="Bucket that each backup is copied to, such as s3://bucket/mnestic, with the credentials of AWS_… "
        "(`mnestic[s3]`); default: none",
    )
    backup_key_file: Path | None = Field(
        None,
        description="File with 32 bytes in base64 that backups are encrypted with; default: they are not",
    )
    temporal_address: str | None = Field(
        None,
        validation_alias="TEMPORAL_ADDRESS",
        description="Address of your Temporal; TEMPORAL_NAMESPACE, TEMPORAL_API_KEY and TEMPORAL_TLS_* apply",
    )
    temporal_ui_url: str | None = Field(
        None,
        description="Base address of the Temporal UI, for links; the embedded UI answers there too, "
        "behind a proxy of your own",
    )
    payload_keys: SecretStr | None = Field(
        None,
        description="Keys for payloads in Temporal: id:key, with 32 bytes in base64, separated by commas",
    )
    payload_keys_file: Path | None = Field(
        None, description="File with more such keys, one in each line"
    )
    payload_key_id: str | None = Field(
        None, min_length=1, description="Id of the key that encrypts; default: no encryption"
    )
    keep_out_key: SecretStr | None = Field(
        None,
        description="Secret by which `forget --keep-out` hashes what must not be learned again, 32 bytes in base64, the same "
        "in each process that writes; default: a file of the data directory, made when needed",
    )
    temporal_port: int | None = Field(
        None,
        ge=1,
        le=65535,
        description="Port of the embedded Temporal; default: 7233 or the next free one",
    )
    ui_port: int | None = Field(
        None,
        ge=1,
        le=65535,
        description="Port of the embedded Temporal UI; default: 8233 or the next free one",
    )
    http_host: str = Field("127.0.0.1", description="Address on which the HTTP API listens")
    http_port: int | None = Field(
        None,
        ge=1,
        le=65535,
        description="Port of the HTTP API; default: 8420, for `mnestic up` that or the next free one",
    )
    http_processes: int = Field(
        1,
        ge=1,
        le=64,
        description="Processes that serve the HTTP API on its port, on Linux; as many as cores serve the most requests",
    )
    http_origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names)] = Field(
        (),
        description="Other origins whose web pages may call the HTTP API with a key of theirs (CORS), separated by commas",
    )
    openai_api_key: SecretStr | None = Field(
        None,
        validation_alias="OPENAI_API_KEY",
        description="API key of the models; without it and OPENAI_BASE_URL, local models are used",
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias="OPENAI_BASE_URL",
        description="Address of an OpenAI-compatible server",
    )
    chat_model: str = Field("gpt-5-mini", description="Model for `think` nodes and summaries")
    extraction_model: str | None = Field(
        None,
        min_length=1,
        description="Model that extracts facts from messages; `local`: a parser of English, from the extra `mnestic[english]`; default: the chat model if there is a server, or else `local` if it is installed; `none`: extract nothing",
    )
    embedding_model: str | None = Field(
        None,
        min_length=1,
        description="Model that makes vectors; default: a local one, with 256 dimensions",
    )
    embedding_dimensions: int = Field(
        512, ge=1, le=4000, description="Dimensions of MNESTIC_EMBEDDING_MODEL's vectors"
    )
    embedding_max_tokens: int = Field(
        8192, ge=1, description="Tokens to which a text is cut for MNESTIC_EMBEDDING_MODEL"
    )
    extraction_concurrency: int = Field(
        4,
        ge=1,
        le=1000,
        validation_alias=AliasChoices(
            "MNESTIC_EXTRACTION_CONCURRENCY", "MNESTIC_LEARNING_CONCURRENCY"
        ),
        description="Concurrent model calls for extraction, in a worker",
    )
    extraction_tokens_per_day: int | None = Field(
        None,
        ge=1,
        validation_alias=AliasChoices(
            "MNESTIC_EXTRACTION_TOKENS_PER_DAY", "MNESTIC_LEARNING_TOKENS_PER_DAY"
        ),
        description="Tokens that a tenant may use in a day (UTC) for extraction and searches; then messages wait. Default: no limit",
    )
    extraction_usd_per_day: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        validation_alias=AliasChoices(
            "MNESTIC_EXTRACTION_USD_PER_DAY", "MNESTIC_LEARNING_USD_PER_DAY"
        ),
        description="USD that a tenant may use, likewise, by MNESTIC_MODEL_PRICES. Default: no limit",
    )
    model_timeout_s: float = Field(
        60.0, gt=0, description="Time limit of one model call, in seconds"
    )
    model_prices: Annotated[ModelPrices, NoDecode] = Field(
        ModelPrices.model_validate(
            {
                "gpt-5-mini": {"input": "0.25", "output": "2.00"},
                "text-embedding-3-small": {"input": "0.02", "output": "0"},
            }
        ),
        description="USD per million tokens, as JSON; the defaults are list prices, check them",
    )
    retrieval_timeout_s: float = Field(
        2.0, gt=0, description="Time limit of auto-retrieval for memories, in seconds"
    )
    rerank_url: str | None = Field(
        None,
        description="Address of a reranking server (`POST /rerank` as of Cohere, Jina and vLLM), such as https://api.cohere.com/v2",
    )
    rerank_model: str | None = Field(
        None, min_length=1, description="Model of the reranking server"
    )
    rerank_api_key: SecretStr | None = Field(
        None, description="Bearer token for the reranking server"
    )
    obsidian_vault: Path | None = Field(
        None, description="Folder of an Obsidian vault, for auto-retrieval of notes"
    )
    obsidian_url: str | None = Field(
        None,
        description="Address of a vault's Local REST API, instead of a folder, such as https://127.0.0.1:27124",
    )
    obsidian_api_key: SecretStr | None = Field(None, description="API key of the vault")
    obsidian_fingerprint: str | None = Field(
        None,
        description="SHA-256 of the vault's certificate; no other certificate is then accepted",
    )
    obsidian_ca_file: Path | None = Field(
        None,
        description="PEM file of the authority that signs the vault's certificate; default: those of the system",
    )
    prometheus_address: str | None = Field(
        None, description="host:port where a worker serves Prometheus metrics; default: none"
    )
    otlp_endpoint: str | None = Field(
        None,
        validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        description="Where traces are sent (OTLP over HTTP); default: nowhere",
    )
    worker_serves: WorkerRole = Field(
        "all",
        description="What a worker does: `jobs`, `maintenance`, or `all`; `mnestic up` starts a process of each",
    )
    worker_tenants: Annotated[tuple[Id, ...] | None, NoDecode, BeforeValidator(_names)] = Field(
        None,
        description="Tenants whose messages a worker has extracted, separated by commas; default: every tenant of the database",
    )
    max_payload_bytes: int = Field(
        16_384,
        ge=256,
        le=1_048_576,
        description="Largest input or resume payload, as canonical JSON",
    )
    log_level: str = Field(
        "INFO",
        pattern="^(DEBUG|INFO|WARNING|ERROR)$",
        description="Log level: DEBUG, INFO, WARNING or ERROR",
    )
    log_format: str = Field(
        "text", pattern="^(text|json)$", description="Format of the logs: text or json"
    )


def load_settings(**overrides: object) -> Settings:
    """Reads the settings; a command's options override the environment.

    Raises:
        ConfigurationError: a value is malformed; names the variable and what is allowed.
        InvalidInputError: the tenant is no id; names the variable, unless an option has said it.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        settings = Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])  # of a field, or of its variable
        field = next((one for one in Settings.model_fields if name in environment_names(one)), name)
        present = [one for one in environment_names(field) if os.environ.get(one)]
        name = present[0] if present else environment_name(field)
        inside = "".join(f"{part}: " for part in first["loc"][1:])
        is_plain = HOW_SHOWN.get(field) == "plain"
        why = f"{inside}{first['msg']}" + (f", not {first['input']!r}" if is_plain else "")
        raise ConfigurationError(setting=name, why=why) from None
    setting_name = "tenant" if "tenant_id" in given else environment_name("tenant_id")
    check_id(settings.tenant_id, what=setting_name)
    return settings


def environment_name(field: str) -> str:
    """The environment variable of a setting."""
    return environment_names(field)[0]


def environment_names(field: str) -> tuple[str, ...]:
    """The environment variable of a setting, and its older names, which are read as well."""
    info = Settings.model_fields.get(field)
    if info is None:
        return (field,)
    if isinstance(info.validation_alias, AliasChoices):
        return tuple(map(str, info.validation_alias.choices))
    return (str(info.validation_alias or f"MNESTIC_{field.upper()}"),)


def source_of(settings: Settings, field: str, *, options: Collection[str] = ()) -> str:
    """Where a setting's value came from: `option` (one of `options`), `environment`, `.env` or `default`."""
    if field in options:
        return "option"
    if field not in settings.model_fields_set:
        return "default"
    given = {key.upper() for key, value in os.environ.items() if value}
    for name in environment_names(field):
        if name in given:
            return f"environment ({name})"
    return f".env ({environment_name(field)})"
