"""When and how a job continues in a new run, without losing any request.

Here only handlers and builds matter.
"""

from collections.abc import Callable
from datetime import timedelta

from temporalio import workflow

from mnestic.workflows.jobs.controls import JobControls
from mnestic.workflows.jobs.resumes import ResumeInbox

_DRAIN = timedelta(seconds=10)  # how long a new run is put off for handlers that are still at work


class JobRenewal:
    """Continues a job as new at a wait."""

    def __init__(
        self,
        *,
        inbox: ResumeInbox,
        controls: JobControls,
        renew: Callable[[], None] | None,
        began_renewed: bool,
    ) -> None:
        """Begins with a run.

        Args:
            inbox: Who resumes.
            controls: Whether the job was poked.
            renew: Continues as new; None if the workflow stays in one run.
            began_renewed: Whether the run goes on where another one ended.
        """
        self._inbox, self._controls, self._renew = inbox, controls, renew
        self._began_renewed, self._put_off = began_renewed, False

    def comes_to_a_wait(self) -> None:
        """What was put off until the next wait may be due."""
        self._put_off = False

    def has_opened_a_wait(self) -> None:
        """From now on a newer build counts."""
        self._began_renewed = False

    def is_due(self, *, suggestion_counts: bool) -> bool:
        """Whether to go on in a new run: the history is long, a newer build is there, or a poke.

        A run that began so does not ask for a newer build before it has opened a wait: where a
        person holds the job on its build, there would be no end of new runs.
        """
        if self._renew is None or self._put_off or self._inbox.taken is not None:
            return False
        info = workflow.info()
        newer = info.is_target_worker_deployment_version_changed() and not self._began_renewed
        suggested = suggestion_counts and info.is_continue_as_new_suggested()
        return self._controls.poked or newer or suggested

    async def go_on(self, *, patient: bool) -> None:
        """Continues as new once all handlers have ended, unless a request comes first.

        Handlers of the workflow's own that do not end put it off to the next wait, as does a
        workflow that stays in its run.
        """
        assert self._renew is not None
        if not patient and not workflow.all_handlers_finished():
            return
        self._inbox.release_updates()
        try:
            if not workflow.all_handlers_finished():
                await workflow.wait_condition(
                    lambda: workflow.all_handlers_finished() or self._inbox.taken is not None,
                    timeout=_DRAIN,
                )
        except TimeoutError:
            workflow.logger.warning("handlers are still at work, so the job stays in its run")
            self._put_off = True
        if self._inbox.taken is None and not self._put_off:
            self._renew()
            self._put_off = True  # what the job carries was too large
        self._inbox.accept_updates()
