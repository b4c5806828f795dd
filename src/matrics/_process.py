"""Whether this process is the command line, and nothing else."""

import sys

#: Of ``matrics`` and of ``python -m matrics``, but not of a program that calls ``matrics._cli.main``. While Python
#: looks for a module to run, its own options and the module's name stand before what is left in ``sys.argv``.
IS_COMMAND = sys.orig_argv[-len(sys.argv) - 1 :][:2] == ["-m", "matrics"] or bool(
    sys.argv and sys.argv[0].endswith(("/matrics", "\\matrics"))
)
