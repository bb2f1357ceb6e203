"""The values that all packages share; numpy and the standard library only."""
