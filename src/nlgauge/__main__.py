"""`python -m nlgauge` runs the command line interface."""

from nlgauge.cli import main

main()
