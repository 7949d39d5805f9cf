"""What the end-to-end tests share: a browser, servers of pages and of charts, and PostgreSQL."""

from tests.contracts.postgres import postgres_server
from tests.e2e.browsing import chromium, page, tab
from tests.e2e.chart_site import chart_server, site
from tests.e2e.serving import anywhere, read_only, served, served_postgres

__all__ = [
    "anywhere",
    "chart_server",
    "chromium",
    "page",
    "postgres_server",
    "read_only",
    "served",
    "served_postgres",
    "site",
    "tab",
]
