"""The long-context storm: short, medium and very long requests mixed, more than a real backend's memory holds."""
