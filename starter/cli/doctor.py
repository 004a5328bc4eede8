"""`mnestic doctor`: checks each part and names a remedy."""

import typer
from rich.text import Text

from mnestic.starter.cli.output import EXIT_FAILED, AsJson, out, print_json, run
from mnestic.starter.cli.overrides import command_settings


def doctor(as_json: AsJson = False) -> None:
    """Check each part of the installation, and say how to repair what is broken."""
    from mnestic.starter.health.checkup import check_all
    from mnestic.starter.health.findings import state_of

    findings = run(check_all(command_settings()))
    healthy = all(finding.ok for finding in findings)
    if as_json:
        state = state_of(findings)
        print_json(
            {
                "ok": healthy,
                "state": state,
                "checks": [finding.model_dump() for finding in findings],
            }
        )
    else:
        for finding in findings:
            mark = Text("ok  ", style="green") if finding.ok else Text("FAIL", style="red")
            out.print(mark, f"{finding.part}: {finding.found}", soft_wrap=True)
            if not finding.ok:
                out.print(f"     {finding.remedy}", soft_wrap=True)
    if not healthy:
        raise typer.Exit(EXIT_FAILED)
