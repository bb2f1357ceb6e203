"""Tokens, n-grams, edit distances and weights of texts."""
