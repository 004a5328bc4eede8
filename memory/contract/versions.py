"""Versions of contracts: what was applied to an agent or a pattern, by whom and when.

A version has the document as it was written, with its placeholders.
"""

from typing import Any

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.contract.differences import Change
from mnestic.memory.deferred_model import DeferredModel


class ContractVersion(DeferredModel):
    """One version of the contract of a selector.

    `version` begins at 1 and grows with each that is applied. `document` is as it was written, with `${NAME}` for what the
    environment fills in; it is None if the contract was taken away. `sha256` is of its canonical JSON.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    selector: str
    version: int
    document: dict[str, Any] | None
    sha256: str
    applied_by: str
    applied_at: AwareDatetime


class ContractPreview(DeferredModel):
    """What a document would change, were it applied.

    `base_version` is the version that is in force, 0 without one. `consequences` say in sentences what would be dropped or
    refused that is held or accepted now.
    """

    model_config = ConfigDict(frozen=True)

    selector: str
    base_version: int
    changes: tuple[Change, ...]
    consequences: tuple[str, ...]
