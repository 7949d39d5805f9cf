"""Errors too rare to be seen: importance sampling, splitting, and what speaks up when they fail."""
