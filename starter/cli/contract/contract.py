"""`mnestic contract`: the YAML document that says what an agent's memory is."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnestic.memory.contract.differences import Change
from mnestic.memory.contract.document import json_schema
from mnestic.memory.contract.versions import ContractPreview, ContractVersion
from mnestic.memory.errors import InvalidContractError, InvalidInputError, NotFoundError
from mnestic.starter.cli.connection import connect_memory
from mnestic.starter.cli.output import AsJson, err, out, print_json, print_table, run

if TYPE_CHECKING:  # a command loads it once it needs it
    from mnestic.starter.contract.contracts import ContractsClient

app = typer.Typer(
    help="Check, apply and compare contracts: YAML documents that say what an agent's memory is.",
    no_args_is_help=True,
)
File = Annotated[Path, typer.Argument(help="A YAML or JSON document with the one key Memory.")]
OfAgent = Annotated[str | None, typer.Option("--agent", help="The agent that it is for.")]
OfPattern = Annotated[
    str | None, typer.Option("--pattern", help="The agents that it is for, such as 'agent.seo.*'.")
]
Yes = Annotated[
    bool, typer.Option("--yes", help="Apply it although something is dropped or refused.")
]
AppliedVersion = Annotated[int | None, typer.Option("--version", min=1, help="Which version.")]


@app.command()
def schema() -> None:
    """Print the JSON Schema of the document, by which editors complete and check it."""
    print_json(json_schema())


@app.command()
def check(file: File, as_json: AsJson = False) -> None:
    """Check a document, without a server; each problem names its line and path, and what is allowed."""
    try:
        _read(file)
    except InvalidContractError as error:
        if as_json:
            print_json({"problems": error.problems})
            raise typer.Exit(2) from None
        for problem in error.problems:
            err.print(f"{file}: {problem}", soft_wrap=True)
        raise typer.Exit(2) from None
    if as_json:
        print_json({"problems": []})
    else:
        out.print(f"{file}: no problems.")


@app.command()
def apply(
    file: File,
    agent: OfAgent = None,
    pattern: OfPattern = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Make a document the contract of an agent or a pattern; say first what it would drop or refuse."""
    selector, document = _selector(agent, pattern), _read(file)

    async def work() -> None:
        async with await connect_memory() as connection:
            contracts = connection.contracts(actor="cli")
            await _apply(contracts, selector, document, yes=yes, as_json=as_json)

    run(work())


async def _apply(
    contracts: "ContractsClient",
    selector: str,
    document: dict[str, Any],
    *,
    yes: bool,
    as_json: bool,
) -> None:
    """Applies a document, after a question if something is dropped or refused."""
    preview = await contracts.preview(selector, document)
    if preview.consequences and not yes:
        _confirm(preview)
    applied = await contracts.apply(selector, document, expected_version=preview.base_version)
    if as_json:
        print_json({"applied": _plain(applied), "preview": preview.model_dump(mode="json")})
    elif applied.version == preview.base_version:
        out.print(f"{selector} has version {applied.version} already.")
    else:
        _print_changes(preview.changes)
        out.print(f"{selector} has version {applied.version} now.")


@app.command()
def show(
    agent: OfAgent = None,
    pattern: OfPattern = None,
    version: AppliedVersion = None,
    as_json: AsJson = False,
) -> None:
    """Show the contract in force for an agent, or of a pattern; without either, list all that are in force."""
    if agent is None and pattern is None:
        _list(as_json=as_json)
        return
    selector = _selector(agent, pattern)

    async def work() -> ContractVersion:
        async with await connect_memory() as connection:
            contracts = connection.contracts(actor="cli")
            if agent is None or version is not None:
                return await contracts.get(selector, version=version)
            found = await contracts.find_for(agent)
        if found is None:
            raise NotFoundError(what="contract for agent", name=agent)
        return found

    found = run(work())
    if as_json:
        print_json(_plain(found))
        return
    title = f"{found.selector} · version {found.version} · {found.applied_at:%Y-%m-%d %H:%M} by {found.applied_by}"
    out.print(f"# {title}\n{_as_yaml(found.document)}", soft_wrap=True, end="")


@app.command()
def diff(
    before: Annotated[int, typer.Argument(min=1, help="A version.")],
    after: Annotated[
        int | None, typer.Argument(min=1, help="Another; by default the latest.")
    ] = None,
    agent: OfAgent = None,
    pattern: OfPattern = None,
    as_json: AsJson = False,
) -> None:
    """Show what changed from one version to another."""
    selector = _selector(agent, pattern)

    async def work() -> tuple[Change, ...]:
        async with await connect_memory() as connection:
            return await connection.contracts(actor="cli").diff(
                selector, before=before, after=after
            )

    changes = run(work())
    if as_json:
        print_json({"changes": [change.model_dump(mode="json") for change in changes]})
    elif changes:
        _print_changes(changes)
    else:
        out.print("Nothing differs.")


@app.command()
def history(agent: OfAgent = None, pattern: OfPattern = None, as_json: AsJson = False) -> None:
    """List the versions of a contract, the latest first."""
    selector = _selector(agent, pattern)

    async def work() -> tuple[ContractVersion, ...]:
        async with await connect_memory() as connection:
            versions, cursor = await connection.contracts(actor="cli").history(selector)
            while cursor is not None:
                more, cursor = await connection.contracts(actor="cli").history(
                    selector, cursor=cursor
                )
                versions += more
        return versions

    _print_versions(run(work()), as_json=as_json)


@app.command()
def rollback(
    version: Annotated[int, typer.Argument(min=1, help="The version to apply again.")],
    agent: OfAgent = None,
    pattern: OfPattern = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Apply an earlier version again, as a new one; say first what it would drop or refuse."""
    selector = _selector(agent, pattern)

    async def work() -> None:
        async with await connect_memory() as connection:
            contracts = connection.contracts(actor="cli")
            document = await contracts.earlier_document(selector, version)
            await _apply(contracts, selector, document, yes=yes, as_json=as_json)

    run(work())


@app.command()
def remove(agent: OfAgent = None, pattern: OfPattern = None, as_json: AsJson = False) -> None:
    """Take a contract away; its versions stay, and `rollback` brings one back."""
    selector = _selector(agent, pattern)

    async def work() -> ContractVersion:
        async with await connect_memory() as connection:
            return await connection.contracts(actor="cli").remove(selector)

    _print_applied(run(work()), "without a document", as_json=as_json)


def _read(file: Path) -> dict[str, Any]:
    from mnestic.starter.contract.documents import read_contract

    return read_contract(file)


def _selector(agent: str | None, pattern: str | None) -> str:
    if (agent is None) == (pattern is None):
        raise InvalidInputError(what="contract", why="give either --agent or --pattern")
    return agent or pattern or ""


def _confirm(preview: ContractPreview) -> None:
    """Says what would be dropped or refused, and asks.

    Raises:
        InvalidInputError: nobody can be asked.
    """
    for sentence in preview.consequences:
        err.print(sentence, soft_wrap=True)
    if not err.is_terminal:
        raise InvalidInputError(what="contract", why="drops or refuses what is there; give --yes")
    typer.confirm("Apply it?", abort=True, err=True)


def _list(*, as_json: bool) -> None:
    async def work() -> tuple[ContractVersion, ...]:
        async with await connect_memory() as connection:
            return await connection.contracts(actor="cli").list()

    _print_versions(run(work()), as_json=as_json)


def _print_versions(versions: Iterable[ContractVersion], *, as_json: bool) -> None:
    if as_json:
        print_json([_plain(version) for version in versions])
        return
    rows = [
        (
            one.selector,
            str(one.version),
            f"{one.applied_at:%Y-%m-%d %H:%M}",
            one.applied_by,
            one.sha256[:12] if one.document else "taken away",
        )
        for one in versions
    ]
    print_table(
        ("selector", "version", "applied", "by", "sha256"), rows, empty="There is no contract."
    )


def _print_changes(changes: Iterable[Change]) -> None:
    for change in changes:
        out.print(str(change), soft_wrap=True)


def _print_applied(applied: ContractVersion, how: str, *, as_json: bool) -> None:
    if as_json:
        print_json(_plain(applied))
    else:
        out.print(f"{applied.selector} has version {applied.version} now, {how}.")


def _plain(version: ContractVersion) -> dict[str, Any]:
    return version.model_dump(mode="json")


def _as_yaml(document: Any) -> str:
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
