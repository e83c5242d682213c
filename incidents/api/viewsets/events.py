"""The timeline as a feed."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api.describing import gives, query
from incidents.api.filters import refuse_unknown
from incidents.api.pagination import MAX_PAGE_SIZE, bounded_limit
from incidents.api.problems import InvalidQuery
from incidents.api.serializers.events import EventSerializer, FeedSerializer
from incidents.api.viewsets.base import RecordViewSet

_DESCRIBED = (
    query("since", int, "Only events after this one; 0, the default, starts at the beginning."),
    query("limit", int, f"How many at most, 1 to {MAX_PAGE_SIZE}; 100 by default."),
    query("incident", int, "Only of this incident."),
    query("job", int, "Only of this job."),
    query("verb", str, "Only of this kind, such as `diagnosis.done`."),
)
_PARAMETERS = frozenset(parameter.name for parameter in _DESCRIBED)


class EventViewSet(RecordViewSet):
    """Everything that happened, in the order in which it was recorded."""

    queryset = selectors.events_since()
    serializer_class = EventSerializer
    pagination_class = None
    filter_backends = []

    @gives({200: FeedSerializer}, parameters=_DESCRIBED)
    def list(self, request: Request) -> Response:
        """Events after `since`, oldest first. Read on with the `since` of the answer.

        No event is skipped: an event whose turn has not ended holds back those after it, for at
        most ten seconds.
        """
        refuse_unknown(request, _PARAMETERS)
        since = _whole(request, "since") or 0
        limit = bounded_limit(request, default=100)
        settled = selectors.last_settled_event(timezone.now())
        rows = selectors.events_since(since).filter(id__lte=settled).order_by("id")
        for name in ("incident", "job"):
            if (pk := _whole(request, name)) is not None:
                rows = rows.filter(**{f"{name}_id": pk})
        if verb := request.query_params.get("verb"):
            rows = rows.filter(verb=verb)
        found = list(rows[: limit + 1])
        shown, has_more = found[:limit], len(found) > limit
        until = shown[-1].pk if has_more else max(since, settled)
        feed = {"results": shown, "since": until, "has_more": has_more}
        return Response(FeedSerializer(feed).data)


def _whole(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise InvalidQuery({name: ["A whole number from 0."]})
    return int(text)
