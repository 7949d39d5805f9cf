import sys, time
import numpy as n; vars(n).setdefault('row_stack', n.vstack)
import ringfence as rf
from ringfence.simulation.families import find_family
i = find_family("uniform").draw(0, arm_count=20)
r = rf.simulate(i, "top-two", budget=5000, batch=10, replications=int(sys.argv[2]), engine=sys.argv[1])
print(sys.argv[1], r.replications, f"{r.replications_per_second:.4g}", r.errors, r.seconds, flush=True)
