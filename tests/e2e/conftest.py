"""What the end-to-end tests share: a browser, and a server for charts alone."""

from tests.e2e.browsing import chromium, page, tab
from tests.e2e.chart_site import chart_server, site

__all__ = ["chart_server", "chromium", "page", "site", "tab"]
