"""Makes logs with the real packages and a model server faked on loopback: `make evaluations`.

Usage: python -m tests.evaluations.make FOLDER BIN PROMPTFOO. `BIN` has the programs inspect and
lm_eval, `PROMPTFOO` is one. What a log says of the machine is taken out.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.evaluations.server import ModelServer

HERE = Path(__file__).parent
SUMS = [(1, 2), (2, 3), (4, 5), (6, 6)]
MODELS = ("exact", "hasty")
_OF_MACHINE = (
    "pretty_env_info", "git_hash", "upper_git_hash", "transformers_version", "chat_template",
)  # fmt: skip


def make(folder: Path, programs: Path, promptfoo: str) -> None:
    """Write logs of all tools into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    server = ModelServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    by_inspect(folder / "inspect-ai", programs, server.url)
    by_lm_eval(folder / "lm-eval", programs, server.url)
    by_promptfoo(folder / "promptfoo", promptfoo, server.url)
    server.shutdown()


def run(*words: str, **variables: str) -> None:
    """Run a program; what it says matters only if it fails."""
    done = subprocess.run(
        words, env=os.environ | variables, cwd=HERE, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout[-1000:]}\n{done.stderr[-2000:]}")


def by_inspect(folder: Path, programs: Path, url: str) -> None:
    """Make .eval and .json logs."""
    local = {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": url}
    for model in MODELS:
        for kind in ("eval", "json"):
            run(
                str(programs / "inspect"), "eval", "sums.py", "--display", "plain",
                "--model", f"openai-api/local/{model}", "--log-format", kind,
                "--log-dir", str(folder / kind), **local,
            )  # fmt: skip
    for kind in ("eval", "json"):
        for at, log in enumerate(sorted((folder / kind).glob(f"*.{kind}"))):
            log.rename(log.with_name(f"{MODELS[at]}.{kind}"))


def by_lm_eval(folder: Path, programs: Path, url: str) -> None:
    """Make results_*.json and samples_*.jsonl."""
    folder.mkdir()
    data, task = folder / "sums.jsonl", folder / "sums.yaml"
    lines = [json.dumps({"question": f"What is {a} + {b}?", "answer": str(a + b)}) for a, b in SUMS]
    data.write_text("\n".join(lines) + "\n")
    task.write_text(
        f"task: sums\ndataset_path: json\ndataset_kwargs:\n  data_files:\n    test: {data}\n"
        "output_type: generate_until\ntest_split: test\ndoc_to_text: '{{question}}'\n"
        "doc_to_target: '{{answer}}'\ngeneration_kwargs:\n  until: ['x']\n  max_gen_toks: 16\n"
        "metric_list:\n  - metric: exact_match\n    aggregation: mean\n"
        "    higher_is_better: true\n"
    )
    for model in MODELS:
        said = f"model={model},base_url={url}/chat/completions,num_concurrent=1,max_retries=1"
        run(
            str(programs / "lm_eval"), "--model", "local-chat-completions", "--model_args",
            f"{said},tokenized_requests=False,eos_string=x", "--tasks", "sums",
            "--include_path", str(folder), "--apply_chat_template", "--log_samples",
            "--output_path", str(folder), OPENAI_API_KEY="none",
        )  # fmt: skip
    data.unlink()
    task.unlink()
    for log in folder.rglob("results_*.json"):
        without(log, _OF_MACHINE)


def by_promptfoo(folder: Path, program: str, url: str) -> None:
    """Make the JSON of `promptfoo eval -o`."""
    folder.mkdir()
    config = {
        "prompts": ["What is {{a}} + {{b}}?", {"label": "brief", "raw": "{{a}} + {{b}}"}],
        "providers": [
            {"id": f"openai:chat:{model}", "config": {"apiBaseUrl": url, "apiKey": "none"}}
            for model in MODELS
        ],
        "tests": [
            {
                "vars": {"a": a, "b": b},
                "assert": [{"type": "equals", "value": str(a + b), "metric": "right"}],
            }
            for a, b in SUMS
        ],
    }
    written = folder / "config.json"
    written.write_text(json.dumps(config))
    off = {f"PROMPTFOO_DISABLE_{one}": "1" for one in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")}
    words = [program, "eval", "-c", str(written), "-o", str(folder / "out.json"), "--no-cache"]
    options = ["--no-table", "--no-progress-bar"]
    home = {"PROMPTFOO_CONFIG_DIR": str(folder / "home")}
    try:
        run(*words, *options, **off, **home, PROMPTFOO_FAILED_TEST_EXIT_CODE="0")
    finally:
        shutil.rmtree(folder / "home", ignore_errors=True)
    written.unlink()


def without(log: Path, keys: tuple[str, ...]) -> None:
    """Take out what a log says of the machine."""
    found: Any = json.loads(log.read_text())
    kept = {key: value for key, value in found.items() if key not in keys}
    kept.get("configs", {}).clear()
    log.write_text(json.dumps(kept))


if __name__ == "__main__":
    make(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3])
