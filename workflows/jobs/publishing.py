"""What a job shows of itself in the Temporal UI: search attributes, memo, and a card."""

import json
import re
from datetime import datetime

from temporalio import workflow
from temporalio.common import SearchAttributeKey

from mnestic.memory.jobs.forms.forms import form_fields
from mnestic.memory.jobs.resume_commands import resume_command
from mnestic.memory.jobs.waits import DeferredRequest, JobState, OpenWait, ResumeRequest
from mnestic.memory.names import JOB_HEADER
from mnestic.memory.scope import Scope

JOB_STATE = SearchAttributeKey.for_keyword("JobState")
TENANT_ID = SearchAttributeKey.for_keyword("TenantId")
AGENT_ID = SearchAttributeKey.for_keyword("AgentId")
SESSION_ID = SearchAttributeKey.for_keyword("SessionId")
WAIT_KEY = SearchAttributeKey.for_keyword("WaitKey")
WAIT_DEADLINE = SearchAttributeKey.for_datetime("WaitDeadline")
_LONGEST_FORM = 2_000  # characters; a card stays readable
_NO_WIDTH = "\N{WORD JOINER}"
_ADDRESSES = re.compile(r"://|(?i:www)\.|\S@")
# What has a meaning within a line, or after the digits that one begins with. Source: CommonMark 0.31.
_MARKUP = re.compile(r"[\\`*_\[\]<>&|~]|(?<=^)[-+=#]|(?<=\d)[.)](?=\s)")
_MAX_DEFERRED_SHOWN = 20  # the first; a memo stays small


def publish_started(scope: Scope) -> None:
    """The job has begun; publishes its owner, unless its starter did so."""
    publish_owner(scope)
    workflow.set_current_details("**Running**")


def publish_owner(scope: Scope) -> None:
    """Whose job it is, unless that is known; so that lists find it."""
    if workflow.info().typed_search_attributes.get(TENANT_ID) is None:
        workflow.upsert_search_attributes(
            [
                JOB_STATE.value_set("running"),
                TENANT_ID.value_set(scope.tenant_id),
                AGENT_ID.value_set(scope.agent_id),
                SESSION_ID.value_set(scope.session_id),
            ]
        )


def publish_running() -> None:
    """The job is between waits."""
    _publish("running", wait_key=None, deadline=None)
    workflow.set_current_details("**Running**")


def publish_ended(state: JobState) -> None:
    """The job is over."""
    _publish(state, wait_key=None, deadline=None)
    workflow.set_current_details(f"**{state.capitalize()}**")


def publish_waiting(wait: OpenWait, *, scope: Scope) -> None:
    """The job is parked."""
    _publish("waiting", wait_key=wait.key, deadline=wait.deadline)
    _publish_header(wait)
    workflow.set_current_details(
        _card(wait, scope, title=f"Waiting for {wait.key}", text=wait.ask or "")
    )


def publish_paused(wait: OpenWait | None) -> None:
    """The job is paused, at a wait or between two."""
    _publish(
        "paused",
        wait_key=wait.key if wait else None,
        deadline=wait.deadline if wait else None,
    )
    at = f" at wait `{wait.wait_id}`" if wait else ""
    workflow.set_current_details(f"**Paused**{at}. `mnestic job unpause` lets it go on.")


def publish_attention(
    wait: OpenWait,
    *,
    scope: Scope,
    why: str,
    request: ResumeRequest | None,
    deferred: tuple[DeferredRequest, ...],
) -> None:
    """The job is parked because its snapshot was not verified, or a strict wait found drift.

    `request` is the one that has just met that, if it was one.
    """
    _publish("needs_attention", wait_key=wait.key, deadline=wait.deadline)
    _publish_header(wait, attention=why, request=request, deferred=deferred)
    shown = deferred[:_MAX_DEFERRED_SHOWN]
    kept = ", ".join(f"{each.request_id} ({each.outcome})" for each in shown)
    text = f"{why}\nKept: {kept}" if kept else why
    workflow.set_current_details(_card(wait, scope, title="Needs attention", text=text))


def _publish(state: JobState, *, wait_key: str | None, deadline: datetime | None) -> None:
    workflow.upsert_search_attributes(
        [
            JOB_STATE.value_set(state),
            WAIT_KEY.value_set(wait_key) if wait_key else WAIT_KEY.value_unset(),
            WAIT_DEADLINE.value_set(deadline) if deadline else WAIT_DEADLINE.value_unset(),
        ]
    )


def _publish_header(
    wait: OpenWait,
    *,
    attention: str | None = None,
    request: ResumeRequest | None = None,
    deferred: tuple[DeferredRequest, ...] = (),
) -> None:
    workflow.upsert_memo(
        {
            JOB_HEADER: {
                "wait_id": wait.wait_id,
                "snapshot_id": wait.snapshot.id,
                "sha256": wait.snapshot.sha256,
                "size_bytes": wait.snapshot.size_bytes,
                "schema_version": wait.snapshot.schema_version,
                "attention": attention,
                "request_id": request.request_id if request else None,
                "kept": [each.model_dump() for each in deferred[:_MAX_DEFERRED_SHOWN]],
            }
        }
    )


def _card(wait: OpenWait, scope: Scope, *, title: str, text: str) -> str:
    snapshot = wait.snapshot
    job_id = wait.wait_id.rpartition("/")[0]
    said = f"{_escaped(text)}\n\n" if text else ""
    return (
        f"### {_cell(title)}\n\n{said}"
        f"| | |\n|---|---|\n"
        f"| wait | `{wait.wait_id}` |\n"
        f"| until | {wait.deadline:%Y-%m-%d %H:%M} UTC |\n"
        f"| agent, session | `{scope.agent_id}`, `{scope.session_id}` |\n"
        f"| outcomes | {', '.join(map(_cell, wait.outcomes))}, timeout |\n"
        f"{_needs(wait)}"
        f"| remembers | {snapshot.message_count} messages, {snapshot.episode_count} episodes, "
        f"{snapshot.record_count} records |\n"
        f"| snapshot | {snapshot.size_bytes} bytes, revision {snapshot.memory_revision}, "
        f"sha256 `{snapshot.sha256[:16]}…` |\n\n"
        f"{_resume(wait, job_id=job_id, tenant_id=scope.tenant_id)}"
    )


def _resume(wait: OpenWait, *, job_id: str, tenant_id: str) -> str:
    """How to resume the job: a command to paste, or what its payload has to be."""
    if wait.condition is not None and not wait.answers:
        return f"It waits for {_cell(str(wait.condition))}.\n"
    command = resume_command(job_id, outcomes=wait.answers, form=wait.form, tenant_id=tenant_id)
    if command is None:
        form = json.dumps(wait.form, ensure_ascii=False)[:_LONGEST_FORM]
        return f"Resume it with a payload that fits this form:\n\n{_fenced(form)}"
    return _fenced(command)


def _fenced(text: str) -> str:
    """Text as a block of code, whatever is in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{text}\n{fence}\n"


def _needs(wait: OpenWait) -> str:
    """The row of the fields that the wait's form requires, if it has one that does."""
    fields = () if wait.form is None else form_fields(wait.form)
    needed = [f"{field.name} ({field.kind})" for field in fields if field.required]
    if not needed:
        return ""
    return f"| payload needs | {_cell(', '.join(needed))} |\n"


def _cell(text: str) -> str:
    """Text as a cell of a table and a line of Markdown show it."""
    return _escaped(" ".join(text.split()))


def _escaped(text: str) -> str:
    """Text as a paragraph of Markdown shows it, line by line: nothing of it is a link, an image, code or HTML.

    Addresses become links by themselves, escaped or not, so they are parted by a character without width.
    """
    apart = _ADDRESSES.sub(lambda found: _NO_WIDTH.join(found[0]), text)
    lines = (_MARKUP.sub(r"\\\g<0>", line.strip()) for line in apart.splitlines())
    return "\\\n".join(line for line in lines if line)
