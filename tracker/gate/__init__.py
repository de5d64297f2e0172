"""The gate: what a project is held to, as a file says it, and whether it holds."""

from tracker.gate.checks import GateConfig
from tracker.gate.config import parse_gate_config, read_gate_config
from tracker.gate.evaluate import judge_gate
from tracker.gate.result import CheckResult, GateResult
from tracker.gate.scaffold import starting_gate_config

__all__ = [
    "CheckResult",
    "GateConfig",
    "GateResult",
    "judge_gate",
    "parse_gate_config",
    "read_gate_config",
    "starting_gate_config",
]
