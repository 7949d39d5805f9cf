"""Which classifier reads the same 500 images best, if it takes at most two milliseconds an image.

The data are scikit-learn's 1,797 digits. Every model learns from the same 600, once, and is then
tried image by image: a pull is one model on one image. All models see the same images in the same
order, so that a hard image counts against none. The metrics are whether the digit was right, and
the milliseconds that it took, which are this machine's.
"""

import time
from functools import cache
from typing import Any

from casebook import Table, write

ARM, ITEM = "model", "image"
OBJECTIVE = "maximize mean(correct)"
CONSTRAINTS = ["mean(milliseconds) <= 2"]
ARMS = (
    "nearest-1",
    "nearest-15",
    "logistic",
    "svm-rbf",
    "svm-linear",
    "bagged-svm",
    "bayes",
    "tree",
)
LEARNT, IMAGES, READINGS = 600, 500, 3


def make(arm: str) -> Any:
    """Return an untrained model."""
    from sklearn.ensemble import BaggingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    made = {
        "nearest-1": lambda: KNeighborsClassifier(1),
        "nearest-15": lambda: KNeighborsClassifier(15),
        "logistic": lambda: LogisticRegression(max_iter=2000),
        "svm-rbf": lambda: SVC(gamma=0.001),
        "svm-linear": lambda: SVC(kernel="linear"),
        "bagged-svm": lambda: BaggingClassifier(SVC(gamma=0.001, C=10.0), 40, random_state=0),
        "bayes": lambda: GaussianNB(var_smoothing=1e-2),
        "tree": lambda: DecisionTreeClassifier(random_state=0),
    }
    return made[arm]()


@cache
def data() -> tuple[Any, Any, Any]:
    """Return pixels, digits, and the order of rows: first those to learn from, then the images."""
    import numpy as np
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    return pixels, digits, np.random.default_rng(0).permutation(len(digits))


@cache
def trained(arm: str) -> Any:
    """Return a model that has learnt; each learns once a process."""
    pixels, digits, order = data()
    return make(arm).fit(pixels[order[:LEARNT]], digits[order[:LEARNT]])


def evaluate(arm: str, item: int) -> dict[str, float]:
    """Let a model read an image."""
    pixels, digits, order = data()
    row = order[LEARNT + item]
    model, image = trained(arm), pixels[row : row + 1]
    seconds = []
    for _ in range(READINGS):
        started = time.perf_counter()
        read = model.predict(image)
        seconds.append(time.perf_counter() - started)
    return {"correct": float(read[0] == digits[row]), "milliseconds": 1e3 * min(seconds)}


def table(images: int = IMAGES) -> Table:
    """Log every model on every image."""
    log: dict[str, list[Any]] = {"model": [], "image": [], "correct": [], "milliseconds": []}
    for item in range(images):
        for arm in ARMS:
            log["model"].append(arm)
            log["image"].append(item)
            for metric, value in evaluate(arm, item).items():
                log[metric].append(value)
    return log


if __name__ == "__main__":
    write(table)
