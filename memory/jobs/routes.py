"""Where a tool's call may go: what Temporal takes as an activity's name and as a task queue.

Temporal refuses a wrong one only when a call is made, and by failing the workflow's task.
"""

from mnestic.memory.errors import InvalidInputError

_LONGEST = 1000  # bytes; Temporal's limit
_RESERVED = ("/_sys/", "temporal-sys-")  # the latter is where its server's own workers poll


def check_route(activity: str, task_queue: str | None) -> None:
    """Refuses a call that Temporal would not make, or would give to its own workers.

    Raises:
        InvalidInputError: a name is too long, or the task queue is one of Temporal's own.
    """
    for what, name in (("activity", activity), ("task_queue", task_queue or "")):
        size = len(name.encode(errors="replace"))
        if size > _LONGEST:
            why = f"is {size} bytes long; at most {_LONGEST} are allowed"
            raise InvalidInputError(what=what, why=why)
    for prefix in _RESERVED:
        if task_queue is not None and task_queue.startswith(prefix):
            why = f"begins with {prefix}, which Temporal keeps for itself; name another one"
            raise InvalidInputError(what="task_queue", why=why)
