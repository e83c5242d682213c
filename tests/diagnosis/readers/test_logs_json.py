"""Where a shipped line comes from, as its JSON object tells it."""

import orjson
import pytest

from diagnosis.readers.logs_json import head_in

HOSTS = {
    "journal": {"MESSAGE": "x", "_HOSTNAME": "node-7"},
    "fluent-bit": {"log": "x", "kubernetes": {"host": "node-7", "pod_name": "trainer-3"}},
    "ECS": {"message": "x", "host": {"name": "node-7"}},
    "Loki": {"line": "x", "labels": {"job": "train", "host": "node-7"}},
    "Google": {
        "textPayload": "x",
        "resource": {"type": "k8s_container", "labels": {"pod_name": "trainer-3"}},
        "labels": {"compute.googleapis.com/resource_name": "node-7"},
    },
}


@pytest.mark.parametrize("shipper", HOSTS)
def test_the_host_is_told_as_each_shipper_writes_it(shipper: str) -> None:
    assert head_in(orjson.dumps(HOSTS[shipper])).outer_host == "node-7"


def test_a_pod_stands_for_its_host_where_none_is_told() -> None:
    line = {"log": "x", "kubernetes": {"pod_name": "trainer-3"}}
    assert head_in(orjson.dumps(line)).outer_host == "trainer-3"
