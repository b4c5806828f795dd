"""The command ``matrics``: what it does before the library is imported.

It is no module of the package, as Python imports a package before any of its modules.
"""

import signal


def main() -> None:
    """Run the command; Ctrl-C during the imports ends it without a traceback, and from then on raises an error."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from matrics._cli import main as run

    run(owns_process=True)
