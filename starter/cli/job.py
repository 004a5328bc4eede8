"""`mnestic job`: its commands, each of which is imported when it is used."""

from typing import ClassVar

import typer

from mnestic.starter.cli.lazy_groups import LazyGroup

_JOBS = "mnestic.starter.cli.jobs"


class _JobGroup(LazyGroup):
    command_targets: ClassVar = {
        "start": (f"{_JOBS}.jobs:start", "Start a job."),
        "list": (f"{_JOBS}.jobs:list_", "List jobs, latest first."),
        "show": (f"{_JOBS}.jobs:show", "Show a job's state and its waits."),
        "resume": (
            f"{_JOBS}.jobs:resume",
            "Resume a waiting job; returns once its memory is verified and restored.",
        ),
        "cancel": (f"{_JOBS}.jobs:cancel", "Cancel a job; it writes its episode first."),
        "result": (
            f"{_JOBS}.jobs:result",
            "Wait for a running job and show its result; of a parked job, show what it waits for.",
        ),
        "history": (
            f"{_JOBS}.reports:history",
            "Show the timeline of a job.",
        ),
        "diff": (
            f"{_JOBS}.reports:diff",
            "Show what changed in a job's memory since its snapshot.",
        ),
        "transcript": (
            f"{_JOBS}.transcript:transcript",
            "Show the transcript of a job: prompts and replies, tool calls, messages, and what resumed its waits.",
        ),
        "override": (f"{_JOBS}.steering:override", "Let a job that needs attention continue."),
        "extend": (f"{_JOBS}.steering:extend", "Give a waiting job a later deadline."),
        "pause": (f"{_JOBS}.steering:pause", "Pause a job before its next step."),
        "unpause": (f"{_JOBS}.steering:unpause", "Let a paused job continue."),
        "poke": (
            f"{_JOBS}.steering:poke",
            "Continue a waiting job in a new run, with the newest build of the worker.",
        ),
        "fork": (
            f"{_JOBS}.steering:fork",
            "Start a job from a wait of another job, with the memory of that time; the other job does not change.",
        ),
    }


app = typer.Typer(
    cls=_JobGroup, help="Start, show, resume, steer and cancel jobs.", no_args_is_help=True
)
