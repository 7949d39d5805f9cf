"""Every policy on NVIDIA GPUs: the same rules, compiled by numba-cuda, a replication a thread."""
