"""The commands, each of which is imported when it runs: the help and the other commands would wait for it.

Errors raise exceptions, which ``main`` prints in a single line.
"""

import contextlib
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Annotated, Any, get_type_hints

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

import matrics
from matrics._cli.progress import working
from matrics._files.notices import BROKEN_PIPE, Stopped

# The base class of all usage errors. It is taken from typer, as some versions of typer use click and others include a
# copy.
UsageError: Any = typer.BadParameter.__base__

# Of each command the module, the function and the first line of its help.
COMMANDS = {
    "score": ("score", "score", "Score every confusion matrix of a file."),
    "interval": ("interval", "interval", "Compute a confidence interval for every measure of every matrix."),
    "compare": (
        "compare",
        "compare",
        "Compare the models of a file, two files, or evaluation logs: differences with confidence limits.",
    ),
    "gate": (
        "gate",
        "gate",
        "Decide whether a model fulfils requirements; exit code 0: pass, 1: fail, 3: undecided, 2: error.",
    ),
    "count": ("count", "count", "Count labels, and write the confusion matrices."),
    "merge": ("count", "merge", "Add up files of counts; the result has the classes and groups of all files."),
    "curve": ("curve", "curve", "Compute measures at every threshold of scores, and how well the scores rank."),
    "threshold": (
        "threshold",
        "threshold",
        "Find the best threshold for a measure, under constraints, with confidence limits.",
    ),
    "report": ("report", "report", "Write a report of a single page: the best model, the errors, and warnings."),
    "diagnostic": (
        "diagnostic",
        "diagnostic",
        "Compute the sensitivity, the specificity and other measures of a diagnostic test, with confidence limits.",
    ),
    "reproduce": (
        "reproduce",
        "reproduce",
        "Recompute every number that the sources print, and compare it with the printed number.",
    ),
    "metrics": ("metrics", "list_metrics", "List the measures."),
    "describe": ("metrics", "describe", "Describe a measure: its properties, formula, source and names."),
    "certificate": ("metrics", "certificate", "Search for matrices that show which properties a measure lacks."),
    "schema": ("schemas", "schema", "Print the JSON Schema of the output of a command with --format json."),
}


# They show how much is done, and the others only that they work.
COUNTING = ("score", "interval", "count", "merge")


class Commands(TyperGroup):
    """The group of the commands; a flag has no type in its help, as it takes no value."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; to list it, only its name and its first line."""
        if cmd_name not in COMMANDS:
            return None
        module, function, line = COMMANDS[cmd_name]
        if ctx.meta.get("is_listed"):
            return TyperCommand(cmd_name, help=line)
        return _command(cmd_name, getattr(import_module(f"matrics._cli.{module}"), function), ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help of all commands."""
        ctx.meta["is_listed"] = True
        super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """The names of commands that begin so."""
        ctx.meta["is_listed"] = True
        return super().shell_complete(ctx, incomplete)

    def get_params(self, ctx: Any) -> Any:
        """The options of the group itself."""
        options = super().get_params(ctx)
        _without_type(options)
        return options


def command_of(name: str) -> Any:
    """A command with its options; None if there is none of this name."""
    group: Any = typer.main.get_command(app)
    return group.get_command(typer.Context(group), name)


def _command(name: str, function: Any, ctx: Any) -> Any:
    """A function as a command."""
    alone = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    alone.command(name)(_with_options(function))
    command = typer.main.get_command(alone)
    _without_type([*command.params, command.get_help_option(ctx)])  # that of --help is made once
    return command


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command with an option for each field of the dataclasses among its parameters."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if not is_dataclass(parameter.annotation):
            parameters.append(parameter)
            continue
        groups[parameter.name] = parameter.annotation
        kinds = get_type_hints(parameter.annotation, include_extras=True)
        parameters += [
            inspect.Parameter(
                option.name,
                parameter.kind,
                default=inspect.Parameter.empty if option.default is MISSING else option.default,
                annotation=kinds[option.name],
            )
            for option in fields(parameter.annotation)
        ]

    def call(**values: Any) -> None:
        made = {
            name: group(**{option.name: values.pop(option.name) for option in fields(group)})
            for name, group in groups.items()
        }
        with contextlib.nullcontext() if command.__name__ in COUNTING else working(command.__name__):
            try:
                command(**values, **made)
            except BrokenPipeError as error:
                raise Stopped(BROKEN_PIPE) from error  # click would exit with 1, the code of a failed gate

    call.__doc__, call.__annotations__ = command.__doc__, {option.name: option.annotation for option in parameters}
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call


def _without_type(options: Any) -> None:
    for option in options:
        if getattr(option, "is_flag", False):
            option.metavar = ""


app = typer.Typer(
    cls=Commands,
    pretty_exceptions_enable=False,
    help="Stacks of confusion matrices, scored by any measure.",
)


def _show_version(is_given: bool) -> None:  # noqa: FBT001 (typer passes it by position)
    if is_given:
        typer.echo(f"matrics {matrics.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    del version  # its callback has handled it
