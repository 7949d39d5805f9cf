"""Bridges to other tools, in their conventions: scikit-learn, Optuna, data frames, MLflow.

Each imports its tool where it is used, and only then. May touch every room.
"""
