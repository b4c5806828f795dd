"""``python -m matrics`` is the command ``matrics``."""

from _matrics_command import main

main()
