"""``python -m tracker``, and the command ``tracker``."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; an interrupt is heard from the first moment on."""
    try:
        from tracker.cli.app import main as run
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
