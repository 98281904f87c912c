"""``python -m cirrus_env`` is ``cirrus-env``."""

import sys

from cirrus_env.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
