"""Which host and device a series is about."""

import pytest

from diagnosis.sources.labels import EntityKind, LabelMap, device_of

WANTED = {"node-1": "node-1", "10.0.0.1": "10.0.0.1", "fe80::1": "fe80::1"}


@pytest.mark.parametrize(
    ("labels", "host"),
    [
        ({"instance": "node-1:9100"}, "node-1"),
        ({"instance": "10.0.0.1:9100"}, "10.0.0.1"),
        ({"instance": "[fe80::1]:9100"}, "fe80::1"),
        ({"instance": "10.9.9.9:9100", "node": "Node-1.example"}, "node-1"),
        ({"instance": "node-11:9100"}, None),
        ({}, None),
    ],
)
def test_the_label_that_names_a_wanted_host_counts(
    labels: dict[str, str], host: str | None
) -> None:
    found = LabelMap().host_of(labels, "node", WANTED)
    assert (found and found[1]) == host


def test_an_exporter_that_nobody_described_has_its_scrape_address() -> None:
    assert LabelMap().labels_of("mine") == ("instance",)


@pytest.mark.parametrize(
    ("kind", "labels", "device"),
    [
        (EntityKind.GPU, {"gpu": "0", "UUID": "GPU-1"}, "0"),
        (EntityKind.GPU, {"UUID": "GPU-1"}, "GPU-1"),
        (EntityKind.GPU, {"gpu": "2", "GPU_I_ID": "1"}, "2.1"),
        (EntityKind.GPU, {"gpu_id": "3"}, "3"),
        (EntityKind.GPU, {}, None),
        (EntityKind.NIC, {"device": "mlx5_0", "port": "1"}, "mlx5_0"),
        (EntityKind.NIC, {"device": "mlx5_0", "port": "2"}, "mlx5_0:2"),
        (EntityKind.NIC, {"device": "eth0"}, "eth0"),
        (EntityKind.RANK, {"rank": "7"}, "rank 7"),
        (EntityKind.SWITCH_PORT, {"ifName": "Ethernet12", "ifIndex": "12"}, "Ethernet12"),
        (EntityKind.HOST, {"device": "sda"}, None),
    ],
)
def test_the_device_is_named_as_people_name_it(
    kind: EntityKind, labels: dict[str, str], device: str | None
) -> None:
    assert device_of(labels, kind) == device
