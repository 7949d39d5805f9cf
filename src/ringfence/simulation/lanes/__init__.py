"""Replications of adaptive policies side by side, in lanes: `kernels` runs them."""
