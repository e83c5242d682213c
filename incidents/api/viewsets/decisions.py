"""Decisions, and what came of them."""

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api import examples
from incidents.api.describing import takes
from incidents.api.etag import etag_of, require_match
from incidents.api.idempotency import idempotent
from incidents.api.serializers.decisions import (
    DecisionRequestSerializer,
    DecisionSerializer,
    OutcomeRequestSerializer,
)
from incidents.api.serializers.diagnoses import RecommendationInListSerializer
from incidents.api.viewsets.base import RecordViewSet, address, record_of, recorded
from incidents.roles import Capability
from incidents.services import decisions
from incidents.services.taking_back import take_back


class DecisionsOfRecommendationViewSet(RecordViewSet):
    """The decisions about one recommendation; the newest stands."""

    needs = {"POST": Capability.RESPOND}
    queryset = selectors.decisions()
    serializer_class = DecisionSerializer

    def list(self, request: Request, recommendation: int) -> Response:
        """Decisions about a recommendation, newest first."""
        asked = record_of(selectors.recommendations_in_full(), recommendation)
        return self.page(selectors.decisions().filter(recommendation=asked))

    @takes(
        DecisionRequestSerializer,
        gives={201: DecisionSerializer},
        examples=[examples.ACCEPT, examples.CHANGE],
    )
    @idempotent()
    def create(self, request: Request, recommendation: int) -> Response:
        """Accept, reject or change a recommendation. Nothing is executed.

        `If-Match` with the recommendation's `ETag` refuses where someone else decided meanwhile.
        """
        given = self.given(DecisionRequestSerializer)
        with transaction.atomic():
            rows = selectors.recommendations_in_full().select_for_update(of=("self",))
            asked = record_of(rows, recommendation)
            if "If-Match" in request.headers:
                require_match(request, etag_of(RecommendationInListSerializer(asked).data))
            made = decisions.decide(actor=self.actor, recommendation=asked, **given)
        shown = self.shown(record_of(selectors.decisions(), made.pk))
        return recorded(shown, at=address("decision", made.pk))


class DecisionViewSet(RecordViewSet):
    """Decisions over all incidents."""

    needs = {"PATCH": Capability.RESPOND, "POST": Capability.RESPOND}
    queryset = selectors.decisions()
    serializer_class = DecisionSerializer

    def list(self, request: Request) -> Response:
        """Decisions, newest first."""
        return self.page(selectors.decisions())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One decision."""
        return Response(self.shown(record_of(selectors.decisions(), pk)))

    @takes(OutcomeRequestSerializer, gives={200: DecisionSerializer}, examples=[examples.OUTCOME])
    def partial_update(self, request: Request, pk: int) -> Response:
        """Note what came of a decision."""
        given = self.given(OutcomeRequestSerializer)
        with transaction.atomic():
            decision = record_of(selectors.decisions().select_for_update(of=("self",)), pk)
            require_match(request, etag_of(self.shown(decision)))
            decisions.record_outcome(
                actor=self.actor,
                decision=decision,
                outcome=given["outcome"],
                note=given["outcome_note"],
            )
        return Response(self.shown(record_of(selectors.decisions(), pk)))

    @takes(None, gives={200: DecisionSerializer})
    def undo(self, request: Request, pk: int) -> Response:
        """Take it back, as long as no executor acted and its outcome is not known.

        The recommendation is undecided again, or the decision before this one stands again.
        """
        take_back(actor=self.actor, decision=record_of(selectors.decisions(), pk))
        return Response(self.shown(record_of(selectors.decisions(), pk)))
