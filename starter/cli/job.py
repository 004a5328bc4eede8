"""`mnestic job`: its commands, each of which is imported when it is used."""

from typing import ClassVar

import typer

from mnestic.starter.cli.lazy_groups import LazyGroup

_JOBS = "mnestic.starter.cli.jobs"


class _JobGroup(LazyGroup):
    listed: ClassVar = {
        "start": (f"{_JOBS}.jobs:start", "Start a job."),
        "list": (f"{_JOBS}.jobs:list_", "List jobs, latest first."),
        "show": (f"{_JOBS}.jobs:show", "Show where a job is, and its waits."),
        "resume": (
            f"{_JOBS}.jobs:resume",
            "Resume a waiting job; returns once its memory is verified and restored.",
        ),
        "cancel": (f"{_JOBS}.jobs:cancel", "Ask a job to end; it writes its episode first."),
        "result": (
            f"{_JOBS}.jobs:result",
            "Wait for a running job, and show what came of it; a parked one tells what it waits for.",
        ),
        "history": (
            f"{_JOBS}.reports:history",
            "Show what happened to a job, in the order of time.",
        ),
        "diff": (
            f"{_JOBS}.reports:diff",
            "Show what changed in a job's memory since its snapshot.",
        ),
        "transcript": (
            f"{_JOBS}.transcript:transcript",
            "Show what a job thought and emitted: prompts and replies, tool calls, messages, and what resumed its waits.",
        ),
        "override": (f"{_JOBS}.steering:override", "Let a job go on that needs attention."),
        "extend": (f"{_JOBS}.steering:extend", "Give a waiting job a later deadline."),
        "pause": (f"{_JOBS}.steering:pause", "Hold a job before its next step."),
        "unpause": (f"{_JOBS}.steering:unpause", "Let a paused job go on."),
        "poke": (
            f"{_JOBS}.steering:poke",
            "Have a waiting job go on in a new run, by the newest build of the worker.",
        ),
        "fork": (
            f"{_JOBS}.steering:fork",
            "Start a job at a wait of another, with the memory of that time; the other is left alone.",
        ),
    }


app = typer.Typer(
    cls=_JobGroup, help="Start, show, resume, steer and cancel jobs.", no_args_is_help=True
)
