"""Asks a gateway for what its OpenAPI document allows, and for what it does not: schemathesis, with
all checks in all phases. Prints the seed, and of each failure a line for curl.

contract.py URL SEED EXAMPLES, with the token in CANDLED_TOKEN. Nothing is left behind."""

import os
import pathlib
import subprocess
import sys
import tempfile

url, seed, examples = sys.argv[1:4]
token = os.environ["CANDLED_TOKEN"]
command = [
    str(pathlib.Path(sys.executable).with_name("schemathesis")),
    "run", f"{url}/v1/openapi.json",
    "--header", f"Authorization: Bearer {token}",
    "--checks", "all",
    "--phases", "examples,coverage,fuzzing,stateful",
    "--mode", "all",
    "--seed", seed,
    "--max-examples", examples,
    "--generation-database", "none",
    "--suppress-health-check", "all",
    "--request-timeout", "10",
    "--no-color",
    # A stream does not end: StreamsContractTests ask for it.
    "--exclude-path", "/v1/stream",
]
# Two members of a body may each be as the document says and not go together, which it cannot say.
settings = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "422", "429", "5xx"]
"""
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "schemathesis.toml").write_text(settings)
    environment = {**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": f"{folder}/hypothesis"}
    sys.exit(subprocess.run(command, cwd=folder, env=environment).returncode)
