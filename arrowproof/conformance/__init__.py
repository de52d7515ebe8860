"""The proof: SQL scan, journal, drive, crash checks, verdict and report."""
