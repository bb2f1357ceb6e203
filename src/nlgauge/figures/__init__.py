"""Drawings of results: pictures with matplotlib, pages without it; nothing is measured here."""
