"""Scoring of files of any size: parts, engines with workers, and runs that can be resumed."""
