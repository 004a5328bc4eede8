"""The log of signals that a workflow refuses: a line a minute at most, however many somebody sends."""

import logging
from datetime import datetime, timedelta

from temporalio import workflow

_EVERY = timedelta(minutes=1)
log = logging.getLogger("mnestic.signals")


class RefusedSignals:
    """The refused signals of one run of a workflow."""

    def __init__(self) -> None:
        self._logged_at: datetime | None = None

    def note(self, **fields: str) -> None:
        """Logs a refused signal with fields that quote nothing of it, unless one was logged within the minute."""
        now = workflow.now()
        if self._logged_at is not None and now - self._logged_at < _EVERY:
            return
        self._logged_at = now
        if not workflow.unsafe.is_replaying():
            of = {"workflow_id": workflow.info().workflow_id}
            log.warning("signal refused", extra=of | fields)
