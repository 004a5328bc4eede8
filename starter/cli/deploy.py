"""`mnestic deploy`: the build that new jobs go to, and the jobs of other builds."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.cli.output import AsJson, err, out, print_json, print_table, run
from mnestic.starter.cli.overrides import command_settings
from mnestic.starter.settings import Settings

if TYPE_CHECKING:
    from mnestic.starter.deployments import Build


def deploy(
    build_id: Annotated[
        str | None,
        typer.Argument(metavar="BUILD", help="The build id; without it, list the builds."),
    ] = None,
    unversioned: Annotated[
        bool, typer.Option("--unversioned", help="Go back to workers without a build id.")
    ] = False,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for a worker of the build.")
    ] = 30.0,
    as_json: AsJson = False,
) -> None:
    """Send new jobs, and jobs that continue as new, to a build of the workers; or list the builds."""
    settings = command_settings()
    if unversioned and build_id is not None:
        why = f"goes back to workers without a build id; leave out build {build_id}"
        raise InvalidInputError(what="--unversioned", why=why)
    chosen = "" if unversioned else build_id
    builds = run(_deploy(settings, chosen, wait=timedelta(seconds=wait)))
    if as_json:
        listed = [build.model_dump(mode="json") for build in builds]
        print_json({"deployment": settings.deployment, "builds": listed})
        return
    if chosen is not None:
        where = f"build {chosen}" if chosen else "workers without a build id"
        message = f"New jobs, and jobs that continue as new, go to {where} from now on."
        out.print(message, soft_wrap=True)
    _print_builds(builds)


async def _deploy(
    settings: Settings, build_id: str | None, *, wait: timedelta
) -> "tuple[Build, ...]":
    from mnestic.starter.deployments import Deployment
    from mnestic.starter.wiring import connect_temporal, find_endpoints

    endpoints = find_endpoints(settings)
    temporal = await connect_temporal(endpoints)
    deployment = Deployment(temporal, settings=settings, address=endpoints.temporal_address)
    if build_id is not None:
        which = f"of build {build_id}" if build_id else "without a build id"
        with err.status(f"Waiting for a worker {which} …"):
            await deployment.make_current(build_id, limit=wait)
    return await deployment.list_builds()


def _print_builds(builds: "tuple[Build, ...]") -> None:
    rows = [
        (
            build.build_id,
            "current" if build.current else "",
            build.running_jobs,
            build.workers,
            f"{build.since:%Y-%m-%d %H:%M} UTC",
        )
        for build in builds
    ]
    columns = ("build", "", "running jobs", "workers", "since")
    print_table(columns, rows, empty="No builds: no worker with a build id has polled.")
    if builds and not any(build.current for build in builds):
        out.print("New jobs go to workers without a build id.")
    for build in builds:
        if build.running_jobs and not build.workers:
            out.print(f"Build {build.build_id} has running jobs and no worker.")
