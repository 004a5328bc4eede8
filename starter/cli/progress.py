"""How commands show the progress of long work: bars on standard error, if a person looks at a terminal."""

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from mnestic.starter.cli.output import err


class _Rate(ProgressColumn):
    """How many of what is counted a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s")


def progress_bars() -> Progress:
    """Bars with rate and time left, on standard error, for a person alone."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate())
    return Progress(*columns, TimeRemainingColumn(), console=err, disable=not err.is_terminal)
