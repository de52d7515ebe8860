"""Arrowproof keeps a state diagram true: it draws a row's lifecycle and proves it against the running service."""

__version__ = "0.1.0"
