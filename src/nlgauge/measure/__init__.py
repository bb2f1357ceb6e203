"""Mathematics on values: costs, layers, transport, barycenters, depth, divergence."""
