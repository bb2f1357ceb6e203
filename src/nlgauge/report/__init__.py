"""One table, many inks."""
