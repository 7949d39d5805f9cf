"""What one more pull is worth: the price at which it would just not be made.

A mean is above or below a line. n pulls put it z deviations away from the line (the prior is
flat), R more may be made, each at a price, and a wrong answer in the end costs 1. Found by dynamic
programming: in units in which n + R = 1, the state is (t, z) with t the pulls made, and z moves to
sqrt(1 + d) z + sqrt(d) N(0, 1) while t grows by d t. The table shows minus the log of n times the
price at which stopping and going on are worth the same, less (z^2/2) (1 + n/R).

    python benchmarks/worth.py
"""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import ndtr

GROWTH = 0.01  # by which the pulls grow in a step
HEIGHTS = np.linspace(0.0, 8.0, 1601)
PRICES = np.exp(np.linspace(np.log(1e-14), np.log(1e3), 500))
SHOWN = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
TIMES = (0.5, 0.3, 0.2, 0.1, 0.03, 0.01)


def steps() -> csr_matrix:
    """Return the chances to go from a height to another, either side of the line, in a step."""
    both = np.concatenate([-HEIGHTS[:0:-1], HEIGHTS])
    edges = np.concatenate([[-np.inf], (both[1:] + both[:-1]) / 2.0, [np.inf]])
    centred = edges - np.sqrt(1.0 + GROWTH) * HEIGHTS[:, None]
    chances = np.diff(ndtr(centred / np.sqrt(GROWTH)), axis=1)
    folded = chances[:, len(HEIGHTS) - 1 :].copy()
    folded[:, 1:] += chances[:, : len(HEIGHTS) - 1][:, ::-1]
    folded[folded < 1e-14] = 0.0
    return csr_matrix(folded)


def indifferent(gain: np.ndarray) -> float:
    """Return the log of the price at which going on stops to gain, from gains by price."""
    worthwhile = int((gain > 0.0).sum())
    if not 0 < worthwhile < len(PRICES):
        return float("nan")
    before, after = gain[worthwhile - 1], gain[worthwhile]
    low, high = np.log(PRICES[worthwhile - 1]), np.log(PRICES[worthwhile])
    return float(low + (high - low) * before / (before - after))


def main() -> None:
    """Go back from the last pull, for all prices at once, and print the table."""
    move, times = steps(), list(TIMES)
    stop = ndtr(-HEIGHTS)[:, None]
    loss, t = np.repeat(stop, len(PRICES), axis=1), 1.0
    print("n/(n+R)  " + "  ".join(f"z={z:4.2f}" for z in SHOWN))
    while times:
        earlier = t / (1.0 + GROWTH)
        go_on = move @ loss + PRICES * (t - earlier)
        if earlier < times[0]:
            row = []
            for z in SHOWN:
                place = round(z / (HEIGHTS[1] - HEIGHTS[0]))
                price = indifferent((stop - go_on)[place] / stop[place])
                row.append(-price - np.log(earlier) - z * z / 2.0 / (1.0 - earlier))
            print(f"{earlier:7.3f}  " + "  ".join(f"{x:6.2f}" for x in row), flush=True)
            times.pop(0)
        loss, t = np.minimum(go_on, stop), earlier


if __name__ == "__main__":
    main()
