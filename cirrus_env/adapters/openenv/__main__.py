"""``python -m cirrus_env.adapters.openenv``: the server."""

from cirrus_env.adapters.openenv.server import main

if __name__ == "__main__":
    main()
