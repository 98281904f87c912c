"""Where the registries find the environments: strings, so that nothing is imported for them."""

from typing import Final

GYMNASIUM: Final = "cirrus_env.envs.ticket_env:TicketEnv"
VECTOR: Final = "cirrus_env.envs.vector_env:TicketVectorEnv"
PETTINGZOO: Final = "cirrus_env.envs.aec_env:TicketAECEnv"
