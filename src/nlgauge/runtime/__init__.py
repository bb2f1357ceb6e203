"""How work runs on this machine: settings, threads and memory."""
