"""Evaluations of any size: streams cut into parts, engines that share them out, and resumption."""
