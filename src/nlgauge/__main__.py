"""`python -m nlgauge` is the command line."""

from nlgauge.cli import main

main()
