"""A worker that knows HTTP alone: asks and tells until the study is finished, slowly if told to.

Arguments: the address of the study, seconds to wait between pulls. The token is in the environment.
"""

import os
import sys
import time

import httpx

from tests.e2e.serving import reported


def work(address: str, nap_seconds: float) -> None:
    """Evaluate one pull after the other."""
    headers = {"Authorization": f"Bearer {os.environ['RINGFENCE_TOKEN']}"}
    with httpx.Client(headers=headers, timeout=30.0, trust_env=False) as client:
        while True:
            asked = client.post(f"{address}/ask", json={"n": 1}).raise_for_status().json()
            if asked["finished"]:
                return
            for pull in asked["pulls"]:
                client.post(f"{address}/tell", json=reported(pull)).raise_for_status()
            time.sleep(nap_seconds)


if __name__ == "__main__":
    work(sys.argv[1], float(sys.argv[2]))
