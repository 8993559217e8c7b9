"""``python -m novikoff`` is the command ``novikoff``."""

from novikoff.cli.main import run

if __name__ == "__main__":
    run()
