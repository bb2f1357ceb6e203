"""Scoring of files of any size in parts, with parallel workers and resumable runs."""
