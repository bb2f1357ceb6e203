"""The web service: scores, alignments and studies over HTTP, and a page on top of them.

``client`` needs the standard library only; everything else needs the extra ``service``.
"""
