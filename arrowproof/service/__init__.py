"""The bundled notes API and worker: the first subject that Arrowproof proves. Imports nothing of the tool."""
