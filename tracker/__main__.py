"""``python -m tracker``, and the command ``tracker``."""

from __future__ import annotations

import gc
import signal

__all__ = ["main"]

_ALLOCATIONS = 200_000  # between collections; a small project's figures take fewer, most to stay


def main() -> None:
    """Run the command line; an interrupt is heard from the first moment on."""
    gc.set_threshold(_ALLOCATIONS, *gc.get_threshold()[1:])
    try:
        from tracker.cli.app import main as run
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    try:
        run()
    finally:
        # The outcome is said: an interrupt from here on would only hide the exit code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
