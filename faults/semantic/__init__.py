"""A streaming HTTP proxy that understands chat completions and harms their meaning on purpose."""
