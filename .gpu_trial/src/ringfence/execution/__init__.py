"""Running things: chunks of replications on the threads of this machine.

May touch everything below: simulation, policies, core.
"""
