"""The gate: what a project is held to, as a file says it, and whether it holds."""

from tracker.gate.checks import GateConfig
from tracker.gate.config import parse_config, read_config
from tracker.gate.evaluate import judge
from tracker.gate.result import CheckResult, GateResult
from tracker.gate.scaffold import starting_config

__all__ = [
    "CheckResult",
    "GateConfig",
    "GateResult",
    "judge",
    "parse_config",
    "read_config",
    "starting_config",
]
