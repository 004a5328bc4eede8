"""Health of the process, for probes."""

from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"
    version: str = Field(examples=["0.3.0"])


@router.get("/health")
async def health() -> Health:
    """Whether the process answers; it needs no key and asks neither database nor Temporal."""
    return Health(version=version("mnestic"))
