"""Fingerprints of findings."""

from incidents.fingerprints import fingerprint_of


def test_numbers_addresses_and_the_host_make_no_difference():
    first = "node-017: Xid 79 at PCI:0000:c1:00, pid=4711, addr 0xdeadbeef"
    second = "node-204: Xid 94 at PCI:0000:3b:00, pid=12, addr 0x1f"
    assert fingerprint_of(first, host="node-017") == fingerprint_of(second, host="node-204")


def test_other_words_make_one():
    assert fingerprint_of("GPU fell off the bus") != fingerprint_of("uncorrectable ECC error")
