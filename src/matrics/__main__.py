"""``python -m matrics`` is the command ``matrics``."""

from matrics.cli import main

main()
