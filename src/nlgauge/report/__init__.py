"""Tables of results and the formats they are written in."""
