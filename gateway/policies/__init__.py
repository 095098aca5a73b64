"""DegradationPolicy manifests: when which fallback is forced, and for what share of the traffic."""
