"""Training and measuring the gatekeepers in front of the models."""
