"""What the next attempt tells about the decisions before it."""

from django.utils import timezone

from incidents import selectors
from incidents.choices import Outcome
from incidents.models import Attempt, Incident
from incidents.roles import Actor
from incidents.services.decisions import record_outcome


def settle(attempt: Attempt) -> None:
    """Notes `recovered` for the decisions that an attempt which has ended bears out.

    That it did not get further is no proof against them: it may have broken by something else.
    Part of the change that ends the attempt.
    """
    earlier = Incident.objects.filter(
        attempt__job=attempt.job_id, attempt__number__lt=attempt.number
    ).select_related("attempt")
    for incident in earlier.filter(reckoning__decided_at__isnull=False):
        after = selectors.aftermath_of(incident, now=timezone.now())
        if after is None or after.attempt.pk != attempt.pk or not after.passed:
            continue
        note = f"Attempt {attempt.number} got past the point where it broke."
        for decision in selectors.undecided_outcomes(incident):
            record_outcome(
                actor=Actor.system(), decision=decision, outcome=Outcome.RECOVERED, note=note
            )
