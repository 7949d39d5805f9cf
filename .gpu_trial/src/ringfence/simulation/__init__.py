"""The rule, a million times: instances, laws of noise, compiled and reference replications.

May touch core and policies. A stranger to `study`.
"""
