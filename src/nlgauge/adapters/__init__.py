"""Adapters for other libraries: data frames, torchmetrics, evaluate and torch."""
