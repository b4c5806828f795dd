"""The reference of ``matrics.plot``, written from what the module exports: a new picture has its entry without more."""

import inspect

from matrics import plot


def reference():
    """The functions that draw, and then the classes, as MyST."""
    exported = {name: getattr(plot, name) for name in plot.__all__}
    functions = [
        f".. autofunction:: matrics.plot.{name}" for name, found in exported.items() if inspect.isroutine(found)
    ]
    classes = [
        f".. autoclass:: matrics.plot.{name}\n   :no-members:\n   :exclude-members: __new__, __init__"
        for name, found in exported.items()
        if inspect.isclass(found) and found is not plot.Display
    ]
    base = (
        ".. autoclass:: matrics.plot.Display\n   :members: plot, save, svg, describe\n"
        "   :exclude-members: __new__, __init__"
    )
    return "```{eval-rst}\n" + "\n".join([*functions, base, *classes]) + "\n```"
