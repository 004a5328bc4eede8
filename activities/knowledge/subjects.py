"""Whom a caller means who gives a name: the one way from a name to the subjects of facts."""

from mnestic.memory.knowledge.claims import check_name, name_key
from mnestic.memory.knowledge.subjects import choose_subjects
from mnestic.memory.ports import Transaction


async def find_subjects(
    transaction: Transaction, name: str, *, is_strict: bool = True
) -> tuple[str, ...]:
    """The subjects of facts about the one whom a name means, however it is written.

    The name may be preferred, an alias, a nickname, a full name, or a first name that one subject alone has.
    The names that only this one has are subjects too, since facts may be about any of them.

    Args:
        transaction: It reads.
        name: As the caller gives it.
        is_strict: Whether a name of several is refused; else it means the subject of just that name.

    Returns:
        Keys of subjects; that of the name itself where nobody is known by it.

    Raises:
        InvalidInputError: it names nothing, or several; then it says whom.
    """
    check_name(name, what="subject")
    chosen = choose_subjects(name, await transaction.facts.list_named(name), is_strict=is_strict)
    if not chosen:
        return (name_key(name),)
    others = await transaction.facts.list_aliases(chosen)
    return tuple(dict.fromkeys((*chosen, *others)))


async def resolve_subject(transaction: Transaction, name: str) -> str:
    """The subject that a new fact about a name belongs to: whoever alone has it as another name, else the name itself.

    So a fact about Kim supersedes what the speaker said who goes by Kim.

    Raises:
        InvalidInputError: it names nothing.
    """
    check_name(name, what="subject")
    named = await transaction.facts.list_named(name)
    known_as = {one.key: one.subject for one in named if one.by == "alias"}
    known_as.pop(name_key(name), None)
    return known_as.popitem()[1] if len(known_as) == 1 else name
