"""Figures of results and alignments."""
