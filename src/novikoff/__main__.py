"""``python -m novikoff`` is the command ``novikoff``."""

from novikoff.cli.main import main

if __name__ == "__main__":
    main()
