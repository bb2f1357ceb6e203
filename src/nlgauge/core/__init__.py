"""Types shared by all packages; imports only numpy and the standard library."""
