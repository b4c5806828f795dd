"""``python -m matrics`` is the command ``matrics``."""

from matrics._cli import main

main()
