"""The browser of the tests reaches nothing else, and tells on pages that try."""

from tests.e2e.browsing import Tab
from tests.e2e.chart_site import Site

FETCH = "address => fetch(address).then(() => 'reached', () => 'refused')"
ELSEWHERE = ["http://192.0.2.1/", "http://example.org/x.js"]


def test_requests_to_elsewhere_end_here_and_are_told(tab: Tab, site: Site) -> None:
    tab.page.goto(site.address(policy=False))
    for address in ELSEWHERE:
        assert tab.page.evaluate(FETCH, address) == "refused"
    assert tab.strangers == ELSEWHERE
    tab.strangers.clear()
    assert all("ERR_PROXY_CONNECTION_FAILED" in text for text in tab.errors)
    tab.errors.clear()


def test_violations_of_the_policy_are_told(tab: Tab, site: Site) -> None:
    tab.page.goto(site.address())
    assert tab.page.evaluate(FETCH, ELSEWHERE[0]) == "refused"
    tab.page.evaluate("() => document.body.setAttribute('style', 'color: red')")
    tab.settle()
    kinds = [text.split()[0] for text in tab.violations]
    assert kinds == ["connect-src", "style-src-attr"]
    assert tab.strangers == []  # the policy stopped it before it became a request
    tab.violations.clear()
    tab.errors.clear()


def test_errors_of_scripts_are_told(tab: Tab, site: Site) -> None:
    tab.page.goto(site.address())
    tab.page.evaluate("() => { setTimeout(() => { throw Error('lost') }) }")
    tab.page.evaluate("() => console.error('said')")
    tab.settle()
    assert sorted(tab.errors) == ["lost", "said"]
    tab.errors.clear()
