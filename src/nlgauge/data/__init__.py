"""Readers that turn files into a Corpus."""
