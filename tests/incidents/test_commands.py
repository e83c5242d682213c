"""Command lines for schedulers, as text."""

import shlex

from hypothesis import given
from hypothesis import strategies as st

from incidents.commands import commands_for


def test_isolation_drains_in_slurm_and_cordons_in_kubernetes():
    assert commands_for("isolate-host", host="node-017", reference="INC-5") == {
        "slurm": "scontrol update nodename=node-017 state=drain reason=INC-5",
        "kubernetes": "kubectl cordon -- node-017",
    }


def test_other_actions_have_no_command():
    assert commands_for("restart-job", host="node-017", reference="INC-5") == {}


@given(host=st.text(min_size=1, alphabet=st.characters(exclude_characters="\0")))
def test_no_host_name_breaks_out_of_its_argument(host: str):
    found = commands_for("isolate-host", host=host, reference="INC-5")
    assert shlex.split(found["slurm"])[2] == f"nodename={host}"
    assert shlex.split(found["kubernetes"])[3:] == [host]
