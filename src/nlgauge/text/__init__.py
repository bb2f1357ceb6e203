"""Strings in, tokens and weights out."""
