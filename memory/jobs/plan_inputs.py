"""What a job has to be given, by the templates of its plan.

It stands apart from the plan's own check, since a plan is sound without any inputs.
"""

from collections.abc import Mapping
from typing import Any

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.plans import Plan
from mnestic.memory.jobs.templates import missing_under


def check_inputs(plan: Plan, inputs: Mapping[str, Any], *, cursor: str | None = None) -> None:
    """Refuses inputs that lack what the plan's templates name, from the cursor's node on if there is one.

    Raises:
        InvalidInputError: names what is missing, and the nodes that need it.
    """
    needed: dict[str, list[str]] = {}
    for node in plan.nodes if cursor is None else plan.nodes_from(cursor):
        document = node.model_dump(mode="json", exclude={"form"})  # nothing is filled in there
        for path in dict.fromkeys(missing_under(document, "input", inputs)):
            needed.setdefault(path, []).append(node.id)
    if needed:
        missing = "; ".join(f"${{{path}}} in {', '.join(nodes)}" for path, nodes in needed.items())
        why = f"the plan needs more of them, none is given for {missing}"
        raise InvalidInputError(what="inputs", why=why)
