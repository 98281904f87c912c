"""The candidate-action view: ``Discrete`` actions from a fixed handbook, ``Box`` observations."""

from cirrus_env.wrappers.candidates.handbook import Candidate, handbook
from cirrus_env.wrappers.candidates.notes import SIZE, K
from cirrus_env.wrappers.candidates.view import CandidateActions, CandidateSnapshot, index_of

__all__ = [
    "SIZE",
    "Candidate",
    "CandidateActions",
    "CandidateSnapshot",
    "K",
    "handbook",
    "index_of",
]
