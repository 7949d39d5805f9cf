"""The "experimental" module of pydantic contains potential new features that are subject to change."""
