"""The lifecycle and the evidence: schemas, loading, linting, transitions, tours."""
