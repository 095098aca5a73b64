"""Makes `fidelity_judging` importable from the folders below."""
