"""Where messages may go: no way into the network that Aegis stands in."""

import contextlib
import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.delivery import address
from incidents.delivery.address import (
    UnresolvedError,
    checked_url,
    destination_of,
    networks,
    sendable_url,
)
from incidents.exceptions import DestinationRefused

PRIVATE = [
    "https://127.0.0.1/",
    "https://10.0.0.5/hook",
    "https://172.16.3.4/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://224.0.0.1/",
    "https://[::1]/",
    "https://[fe80::1]/",
    "https://[fd00::1]/",
    "https://[::ffff:10.0.0.5]/",
    "https://[64:ff9b::a00:5]/",
    "https://[2002:0a00:0005::]/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://localhost/",
]


@pytest.mark.parametrize("url", PRIVATE)
def test_a_private_address_is_refused_however_it_is_written(url: str):
    with pytest.raises((DestinationRefused, UnresolvedError)):
        destination_of(url, allowed=[])


@pytest.mark.parametrize("url", ["https://10.0.0.5/hook", "https://localhost/", "https://[::1]/"])
def test_an_address_known_to_be_private_is_not_kept(url: str):
    with pytest.raises(DestinationRefused, match="AEGIS_WEBHOOK_NETWORKS"):
        sendable_url(url, allowed=[])


def test_a_name_that_leads_nowhere_yet_is_kept():
    assert sendable_url(" https://later.invalid/x ", allowed=[]) == "https://later.invalid/x"


@pytest.mark.parametrize("url", ["https://10.0.0.5/hook", "http://10.0.0.5:8080/hook?x=1"])
def test_an_allowed_network_is_reached(url: str):
    found = destination_of(url, allowed=networks(["10.0.0.0/24"]))
    assert found.address == "10.0.0.5"


def test_what_stands_for_an_allowed_address_is_allowed():
    assert destination_of("https://[::ffff:10.0.0.5]/", allowed=networks(["10.0.0.5"]))


def test_a_public_address_is_reached_over_tls_only():
    assert destination_of("https://93.184.216.34/", allowed=[]).port == 443
    with pytest.raises(DestinationRefused, match="only https"):
        destination_of("http://93.184.216.34/", allowed=[])


def test_of_several_addresses_one_that_may_be_is_taken(monkeypatch: pytest.MonkeyPatch):
    answers = [(0, 0, 0, "", (ip, 443)) for ip in ("10.0.0.5", "93.184.216.34")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_k: answers)
    assert destination_of("https://two.example/", allowed=[]).address == "93.184.216.34"


@pytest.mark.parametrize(
    "url",
    ["", "ftp://x/", "https://", "https://u:p@x/", "https://x/#a", "https://x:0/", "https://x:99999/",
     "file:///etc/passwd", "https://x/a b", "https://x/\r\nHost: y", "javascript:alert(1)"],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str):
    with pytest.raises(DestinationRefused):
        checked_url(url)


def test_the_host_header_has_a_port_only_where_it_is_unusual():
    allowed = networks(["10.0.0.0/8"])
    assert destination_of("https://10.0.0.5/", allowed=allowed).authority == "10.0.0.5"
    assert destination_of("https://10.0.0.5:8443/", allowed=allowed).authority == "10.0.0.5:8443"


@given(st.ip_addresses(v=4))
def test_an_ipv6_form_is_judged_as_the_ipv4_address_that_it_carries(ip: ipaddress.IPv4Address):
    forms = [f"::ffff:{ip}", str(ipaddress.IPv6Address((0x64FF9B << 96) | int(ip)))]
    assert {address.carried(ipaddress.ip_address(form)) for form in forms} == {ip}


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused(text: str):
    with contextlib.suppress(DestinationRefused):
        assert checked_url(text).hostname
