"""Doors for people who come from other libraries: frames, torchmetrics, evaluate, torch."""
