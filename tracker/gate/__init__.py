"""The gate: what a project is held to, as a file says it, and whether it holds."""

from tracker.gate.checks import judge
from tracker.gate.config import parse_config, read_config
from tracker.gate.result import CheckResult, GateResult
from tracker.gate.starting import starting_config
from tracker.gate.wanted import GateConfig

__all__ = [
    "CheckResult",
    "GateConfig",
    "GateResult",
    "judge",
    "parse_config",
    "read_config",
    "starting_config",
]
