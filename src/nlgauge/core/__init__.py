"""Values and laws: what every room speaks of, in numpy and the standard library only."""
