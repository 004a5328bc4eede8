"""Which settings are shown as they are, and which as an address or not at all.

It allows rather than forbids: what is not named here is hidden, so a setting that somebody adds is hidden until its
author says that it is no secret.
"""

from typing import Any, Literal

from pydantic import SecretStr

from mnestic.memory.addresses import HIDDEN, describe_url

Shown = Literal["plain", "address"]

_PLAIN = [
    "data_dir",
    "tenant_id",
    "task_queue",
    "deployment",
    "build_id",
    "tenant_weight",
    "cache_bytes",
    "backup_directory",
    "backup_bucket",
    "backup_copy_directory",
    "backup_key_file",
    "payload_keys_file",
    "payload_key_id",
    "temporal_port",
    "ui_port",
    "http_host",
    "http_port",
    "http_processes",
    "http_origins",
    "chat_model",
    "extraction_model",
    "embedding_model",
    "embedding_dimensions",
    "embedding_max_tokens",
    "extraction_concurrency",
    "extraction_tokens_per_day",
    "extraction_usd_per_day",
    "model_timeout_s",
    "model_prices",
    "retrieval_timeout_s",
    "rerank_model",
    "obsidian_vault",
    "obsidian_fingerprint",
    "obsidian_ca_file",
    "worker_serves",
    "worker_tenants",
    "max_payload_bytes",
    "log_level",
    "log_format",
]
_ADDRESSES = [
    "database_url",
    "database_admin_url",
    "temporal_address",
    "temporal_ui_url",
    "openai_base_url",
    "rerank_url",
    "obsidian_url",
    "prometheus_address",
    "otlp_endpoint",
]
HOW_SHOWN: dict[str, Shown] = {
    **dict.fromkeys(_PLAIN, "plain"),
    **dict.fromkeys(_ADDRESSES, "address"),
}


def shown_value(setting: str, value: Any) -> str | None:
    """A setting's value as people may see it."""
    if value is None:
        return None
    if isinstance(value, tuple):
        value = ",".join(value)
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    match HOW_SHOWN.get(setting):
        case "plain":
            return text
        case "address":
            return describe_url(text)
        case None:
            return HIDDEN
