"""What it costs to look for what arms share where they share nothing: errors beside plain pulls.

The same instances of family `uniform`, once with independent pulls, once on blocks without effect,
with estimated noise. `python -m benchmarks.unshared --arms 20 --replications 20000` runs one size.
"""

import argparse
from dataclasses import replace

import numpy as np

import ringfence as rf
from ringfence.simulation.families import find_family
from ringfence.simulation.laws import GaussianLaw
from ringfence.simulation.shared_laws import on_blocks

BUDGETS = {3: 200, 8: 527, 20: 1400}


def on_idle_blocks(instance: rf.Instance) -> rf.Instance:
    """Return the same arms on blocks that do nothing."""
    law = instance.law
    if not isinstance(law, GaussianLaw):
        raise TypeError("blocks have effects on Gaussian arms only")
    return replace(instance, law=on_blocks(law, np.zeros((law.means.shape[1], 1))))


def main() -> None:
    """Print both rates, and what one is of the other."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--arms", nargs="+", type=int, default=[3, 8, 20], choices=list(BUDGETS))
    ask.add_argument("--instances", type=int, default=10)
    ask.add_argument("--replications", type=int, default=2_000, help="of each instance")
    ask.add_argument("--threads", type=int)
    said = ask.parse_args()
    for arms in said.arms:
        errors = {"apart": 0, "on blocks": 0}
        for number in range(said.instances):
            plain = find_family("uniform").draw(number, arm_count=arms)
            for words, one in (("apart", plain), ("on blocks", on_idle_blocks(plain))):
                found = rf.simulate(
                    one, "top-two", budget=BUDGETS[arms], replications=said.replications,
                    seed=7 + number, scales="estimated", threads=said.threads,
                )  # fmt: skip
                errors[words] += round(found.error_rate * said.replications)
        count = said.instances * said.replications
        ratio = errors["on blocks"] / max(errors["apart"], 1)
        error = ratio * float(np.sum([1.0 / max(one, 1) for one in errors.values()])) ** 0.5
        rates = ", ".join(f"{words} {one / count:.4f}" for words, one in errors.items())
        print(f"{arms} arms: {rates}, ratio {ratio:.3f} +- {error:.3f}", flush=True)


if __name__ == "__main__":
    main()
