"""Groups of commands that import a command's module when the command is used.

The program lists its commands far more cheaply than it imports them: each group has the names and the one-line helps of
its commands, and a test compares these with the commands themselves.
"""

from collections import UserDict
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


class LazyCommand(TyperCommand):
    """A command as a list shows it; what it is itself is imported by its first use."""

    def __init__(self, name: str, target: str, about: str) -> None:
        """Describes the command.

        Args:
            name: The word that runs it.
            target: `package.module:name` of its function, or of the `Typer` application of a group.
            about: The first paragraph of its help.
        """
        super().__init__(name, help=about)
        self._name = name
        self._target = target

    def load(self) -> Any:
        """Imports the command's module and returns the command, or the group."""
        module, _, attribute = self._target.partition(":")
        target = getattr(import_module(module), attribute)
        home = typer.Typer()
        if isinstance(target, typer.Typer):
            home.add_typer(target, name=self._name)
        else:
            home.command(self._name)(target)
        return typer.main.get_group(home).commands[self._name]

    def make_context(self, *args: Any, **fields: Any) -> Any:
        """Parses the arguments, which only the loaded command knows; whoever goes on has its context."""
        return self.load().make_context(*args, **fields)


class _LoadedCommands(UserDict[str, Any]):
    """Commands by name, each loaded when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name).load()


class LazyGroup(TyperGroup):
    """A group that shows its commands without importing them; its `commands` are the loaded ones."""

    command_targets: ClassVar[dict[str, tuple[str, str]]]
    """By name, what the command is imported from, `package.module:name`, and the first paragraph of its help."""

    def __init__(self, **fields: Any) -> None:
        """As `TyperGroup`."""
        super().__init__(**fields)
        self._listed = {
            name: LazyCommand(name, target, about)
            for name, (target, about) in self.command_targets.items()
        }
        self.commands = _LoadedCommands(self._listed)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - its base has it
        """The names of the commands, in the order of the help."""
        return list(self._listed)

    def get_command(self, ctx: Any, cmd_name: str) -> LazyCommand | None:  # noqa: ARG002 - as above
        """The command of a name, which is not imported yet."""
        return self._listed.get(cmd_name)
