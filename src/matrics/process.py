"""Whether this process is the command line, and nothing else."""

import sys

#: Of ``matrics`` and of ``python -m matrics``, but not of a program that calls ``matrics.cli.main``.
IS_COMMAND = sys.orig_argv[1:3] == ["-m", "matrics"] or bool(
    sys.argv and sys.argv[0].endswith(("/matrics", "\\matrics"))
)
