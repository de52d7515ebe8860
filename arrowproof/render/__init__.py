"""From a lifecycle to a page: layout, SVG, HTML, and the fit check in Chromium."""
