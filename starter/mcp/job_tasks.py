"""How a job looks as a task, and how the answer to a task resumes a wait. No I/O."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json, to_jsonable_python

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.agent_job import JobDescription, JobResult
from mnestic.memory.jobs.waits import RESUMED, TIMEOUT, JobState, JobWait
from mnestic.starter.mcp.tool_results import EndedJob

TaskStatus = Literal["working", "input_required", "completed", "cancelled"]
ENDED: frozenset[JobState] = frozenset({"completed", "failed", "cancelled", "terminated"})
_POLL_MS = 2_000
_ANSWER = "answer"  # the field of a payload that is no object


class TaskAnswer(BaseModel):
    """What a client answers to an elicitation."""

    model_config = ConfigDict(frozen=True)

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


def task_of(job: JobDescription, result: JobResult | None) -> dict[str, Any]:
    """A job as a task, with what its status requires; the result is that of a completed job, if Temporal still has it."""
    status, message = _status_of(job)
    changes = [
        moment
        for wait in job.waits
        for moment in (wait.opened_at, wait.closed_at)
        if moment is not None
    ]
    task: dict[str, Any] = {
        "taskId": job.job_id,
        "status": status,
        "createdAt": job.started_at,
        "lastUpdatedAt": job.closed_at or max([job.started_at, *changes]),
        "ttlMs": None,
        "pollIntervalMs": _POLL_MS,
    }
    if message is not None:
        task["statusMessage"] = message
    wait = open_wait(job)
    if status == "input_required" and wait is not None:
        task["inputRequests"] = {wait.wait_id: elicitation_of(wait)}
    if status == "completed":
        task["result"] = _result_of(job, result)
    document: dict[str, Any] = to_jsonable_python(task)
    return document


def open_wait(job: JobDescription) -> JobWait | None:
    """The wait that takes an answer now; None between waits, and of a job that is paused or needs attention."""
    if job.state != "waiting":
        return None
    return next((wait for wait in reversed(job.waits) if wait.state == "waiting"), None)


def elicitation_of(wait: JobWait) -> dict[str, Any]:
    """The request for a wait's answer: a field for each of its form's, and one for the outcome if there is a choice."""
    form = wait.form
    if _is_object(form):
        assert form is not None
        properties, required = dict(form.get("properties", {})), list(form.get("required", ()))
    else:
        properties = {_ANSWER: form or {"type": "string", "title": "Answer"}}
        required = [_ANSWER] if form else []
    if len(choices := _choices_of(wait)) > 1:
        field = _outcome_field(wait)
        properties[field] = {"type": "string", "title": "Outcome", "enum": choices}
        required.append(field)
    schema = {"type": "object", "properties": properties, "required": required}
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": wait.ask or wait.key, "requestedSchema": schema},
    }


def answer_of(wait: JobWait, answer: TaskAnswer) -> tuple[str, Any]:
    """The outcome and the payload of an answer.

    Raises:
        InvalidInputError: the person declined, which no wait has an outcome for.
    """
    choices = _choices_of(wait)
    if answer.action != "accept":
        why = f"the answer is {answer.action}; answer with one of {', '.join(choices)}, or cancel the task"
        raise InvalidInputError(what=wait.wait_id, why=why)
    content = dict(answer.content or {})
    outcome = content.pop(_outcome_field(wait), choices[0])
    return str(outcome), content if _is_object(wait.form) else content.get(_ANSWER)


def _choices_of(wait: JobWait) -> list[str]:
    """The outcomes that an answer may choose; a timeout is none."""
    return [outcome for outcome in wait.answers if outcome != TIMEOUT] or [RESUMED]


def _outcome_field(wait: JobWait) -> str:
    name, properties = "outcome", (wait.form or {}).get("properties", {})
    while name in properties:
        name += "_"
    return name


def _is_object(form: dict[str, Any] | None) -> bool:
    return form is not None and (form.get("type") == "object" or "properties" in form)


def _status_of(job: JobDescription) -> tuple[TaskStatus, str | None]:
    """The status, and what to say of it. A job that failed is a completed task, whose result is an error."""
    match job.state:
        case "completed" | "failed":
            return "completed", None
        case "cancelled" | "terminated":
            return "cancelled", None
        case "needs_attention":
            return "working", f"needs attention: {job.attention or 'see the job'}"
        case "paused":
            return "working", "paused"
        case _:
            wait = open_wait(job)
            return ("working", None) if wait is None else ("input_required", wait.ask)


def _result_of(job: JobDescription, result: JobResult | None) -> dict[str, Any]:
    """What the tool would have returned, had it waited for the job."""
    if job.state == "failed":
        text = job.failure or "the job failed"
        return {"content": [{"type": "text", "text": text}], "isError": True}
    ended = EndedJob(
        job_id=job.job_id,
        results=result.results if result else {},
        omitted=list(result.omitted) if result else [],
    )
    return {
        "content": [{"type": "text", "text": to_json(ended, indent=2).decode()}],
        "structuredContent": ended.model_dump(mode="json"),
        "isError": False,
    }
