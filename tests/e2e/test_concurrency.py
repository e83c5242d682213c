"""Many at once, on PostgreSQL behind several web processes: nothing doubled, nothing lost."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import httpx
import pytest

from tests.e2e.instances import Instance, server

pytestmark = pytest.mark.long
_WRITERS = 50
_POSTS = 1000


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A server set-up whose web processes work side by side, and no limit of requests."""
    with server(
        tmp_path_factory.mktemp("several"),
        GUNICORN_CMD_ARGS="--workers 3 --threads 8",
        AEGIS_REQUESTS_PER_MINUTE="10000000",
    ) as instance:
        yield instance


@pytest.fixture
def client(several: Instance) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {several.token()}"}
    limits = httpx.Limits(max_connections=_WRITERS, max_keepalive_connections=0)
    with httpx.Client(
        base_url=f"{several.address}api/v1/", headers=headers, limits=limits, timeout=120
    ) as made:
        yield made


@pytest.mark.timeout(900)
def test_a_thousand_identical_posts_with_one_key_make_one_incident(client: httpx.Client):
    body, key = {"title": "one of a thousand"}, {"Idempotency-Key": "one-of-a-thousand"}

    def post(_: int) -> tuple[int, int | None]:
        answer = client.post("incidents", json=body, headers=key)
        return answer.status_code, answer.json().get("id")

    with ThreadPoolExecutor(_WRITERS) as pool:
        answers = list(pool.map(post, range(_POSTS)))
    statuses = Counter(status for status, _ in answers)
    assert set(statuses) <= {HTTPStatus.CREATED, HTTPStatus.CONFLICT}, statuses
    assert len({pk for status, pk in answers if status == HTTPStatus.CREATED}) == 1
    found = client.get("incidents", params={"q": "one of a thousand", "status": "all"}).json()
    opened = client.get("events", params={"verb": "incident.opened", "limit": 500}).json()
    assert len(found["results"]) == 1
    assert len([one for one in opened["results"] if "one of a thousand" in one["text"]]) == 1


@pytest.mark.timeout(900)
def test_fifty_writers_with_if_match_lose_no_update(client: httpx.Client):
    made = client.post("incidents", json={"title": "0"}).raise_for_status().json()
    address = f"incidents/{made['id']}"

    def add_one(number: int) -> int:
        """Counts the title up by one; how often someone else was faster."""
        draw = random.Random(number)  # noqa: S311 - spreads the tries
        for tried in range(1000):
            seen = client.get(address)
            change = {"title": str(int(seen.json()["title"]) + 1)}
            answer = client.patch(address, json=change, headers={"If-Match": seen.headers["ETag"]})
            if answer.status_code == HTTPStatus.OK:
                return tried
            assert answer.status_code == HTTPStatus.PRECONDITION_FAILED, answer.text
            time.sleep(draw.uniform(0, 0.2))
        raise AssertionError("never came through")

    with ThreadPoolExecutor(_WRITERS) as pool:
        refused = sum(pool.map(add_one, range(_WRITERS)))
    shown = client.get(address).json()
    assert shown["title"] == str(_WRITERS)
    assert shown["version"] == made["version"] + _WRITERS
    assert refused > 0, "the writers did not meet"
