"""Help in which a flag has no type, as it takes no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup

if TYPE_CHECKING:
    from collections.abc import Iterable


class PlainFlags(TyperGroup):
    """A group of commands that shows ``--progress`` where typer shows ``--progress <bool>``."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command of the group."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            _without_type([*found.params, found.get_help_option(ctx)])  # that of --help is made once
        return found

    def get_params(self, ctx: Any) -> Any:
        """The options of the group itself."""
        found = super().get_params(ctx)
        _without_type(found)
        return found


def _without_type(options: Iterable[Any]) -> None:
    for option in options:
        if getattr(option, "is_flag", False):
            option.metavar = ""
