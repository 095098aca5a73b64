"""Asynchronous answers: accepted now, worked on when there is room, polled for later, kept across a restart."""
