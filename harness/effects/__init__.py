"""What each fault of the catalogue does to a real serving engine, measured."""
