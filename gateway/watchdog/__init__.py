"""Keeps a local backend's process alive: weights verified, restarts that back off, other launches after failures."""
