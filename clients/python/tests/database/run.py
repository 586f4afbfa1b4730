"""Makes a demo's database and a wheel, and runs the tests of this folder with both.

    run.py PROGRAM

PROGRAM is a built candled-demo. The wheel is built by script/package and installed in a virtual environment of
its own, which takes the other packages from the Python that runs this."""

import contextlib
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
# Without a clock, for on a busy machine a day at any speed has gaps.
SPEED = "0"


@contextlib.contextmanager
def served(program, folder):
    """A whole day, then its database until the end of the block."""
    options = ["--speed", SPEED, "--instruments", "20", "--days", "8", "--keep", folder]
    made = subprocess.run(
        [program, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(f"candled-demo ended with {made.returncode}: {made.stdout}{made.stderr}")
    server = subprocess.Popen(
        [program, "--open", folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        text=True)
    try:
        if not any("Ctrl-C stops" in line for line in server.stdout):
            sys.exit("candled-demo --open opened nothing")
        yield
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def installed_wheel(folder):
    """The interpreter of an environment that has the wheel."""
    builder = [ROOT / "script" / "package", "--wheel", "--output", folder]
    # setuptools is there: nothing is asked from a registry.
    quiet = os.environ | {"PYTHON": sys.executable, "PIP_NO_BUILD_ISOLATION": "0",
                          "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    wheel = subprocess.run(builder, env=quiet, stdout=subprocess.PIPE, text=True, check=True)
    home = Path(folder) / "environment"
    venv.create(home, symlinks=True)
    packages = next(home.glob("lib/python*/site-packages"))
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", packages,
         wheel.stdout.strip()], env=quiet, check=True)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin" / "python"


def main():
    with tempfile.TemporaryDirectory(prefix="candled-analyst-") as folder:
        # The private PostgreSQL runs as a user of its own.
        os.chmod(folder, 0o755)
        with served(sys.argv[1], f"{folder}/demo"):
            run = subprocess.run(
                [installed_wheel(folder), "-W", "error::DeprecationWarning", "-m", "unittest",
                 "discover", "-s", HERE],
                env=os.environ | {"CANDLED_URL": f"{folder}/demo", "MPLBACKEND": "agg",
                                  "CANDLED_TUTORIAL": str(ROOT / "docs" / "analysts.md"),
                                  "PYTHONDONTWRITEBYTECODE": "1"})
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
