"""The package says that it is typed (py.typed): mypy agrees, by its strict rules."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]


class TypeTests(unittest.TestCase):
    def test_mypy_finds_nothing(self):
        with tempfile.TemporaryDirectory() as cache:
            run = subprocess.run(
                [sys.executable, "-m", "mypy", "--cache-dir", cache], cwd=PACKAGE,
                capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
