"""The bundled notes API and worker: the first subject that Arrowproof proves. Imports nothing of the tool.

``python -m arrowproof.service.server`` accepts notes over HTTP; ``python -m arrowproof.service.worker`` writes their
history, never twice and never for ever. Both work on one SQLite file; all SQL stands in ``sql/*.sql``.
"""
