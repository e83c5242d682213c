"""Records for tests, valid by themselves, made in the real database."""

import hashlib
from datetime import UTC, datetime

import factory
from django.utils import timezone

from incidents import models
from incidents.choices import DiagnosisState, Role, Source
from incidents.hostnames import normalise_host
from incidents.roles import Actor, Capability
from incidents.services.indexing import index


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"person-{n}")
    role = Role.RESPONDER


class ClusterFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Cluster

    name = factory.Sequence(lambda n: f"cluster-{n}")


class HostFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Host

    cluster = factory.SubFactory(ClusterFactory)
    name = factory.Sequence(lambda n: f"node-{n:03}")


class JobFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Job

    cluster = factory.SubFactory(ClusterFactory)
    external_id = factory.Sequence(lambda n: f"{4000 + n}")
    source = "slurm"
    name = "pretrain"


class AttemptFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Attempt

    job = factory.SubFactory(JobFactory)
    number = factory.Sequence(lambda n: n + 1)


class RankPlacementFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.RankPlacement

    attempt = factory.SubFactory(AttemptFactory)
    rank = factory.Sequence(lambda n: n)
    host = factory.SubFactory(HostFactory)


class IncidentFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Incident
        skip_postgeneration_save = True

    title = "Training stopped"
    cluster = factory.SubFactory(ClusterFactory)

    @factory.post_generation
    def found_by_its_words(self, create: bool, extracted: object, **given: object) -> None:
        """As opening it through the service would have it."""
        if create:
            index(self)


class BlobFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Blob

    sha256 = factory.Sequence(lambda n: hashlib.sha256(str(n).encode()).hexdigest())
    size = 6
    stored_size = 15


class EvidenceFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Evidence

    incident = factory.SubFactory(IncidentFactory)
    blob = factory.SubFactory(BlobFactory)
    name = factory.Sequence(lambda n: f"rank-{n}.log")
    uploaded_by = "someone"
    source = Source.BROWSER


class DiagnosisFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Diagnosis

    incident = factory.SubFactory(IncidentFactory)
    number = factory.Sequence(lambda n: n + 1)
    requested_by = "someone"

    class Params:
        running = factory.Trait(
            state=DiagnosisState.RUNNING,
            lease_owner="worker",
            lease_expires_at=factory.LazyFunction(lambda: datetime(2100, 1, 1, tzinfo=UTC)),
            started_at=factory.LazyFunction(timezone.now),
            attempts=1,
        )
        done = factory.Trait(
            state=DiagnosisState.DONE,
            finished_at=factory.LazyFunction(timezone.now),
            kind="hang",
            verdict_class="critical",
            summary="node-001 broke",
            confidence=0.9,
        )


class SuspectFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Suspect
        skip_postgeneration_save = True

    diagnosis = factory.SubFactory(DiagnosisFactory, done=True)
    position = factory.Sequence(lambda n: n + 1)
    score = 0.9
    role = "culprit"
    target_kind = "host"
    target_host = "node-001"

    @factory.post_generation
    def found_by_its_words(self, create: bool, extracted: object, **given: object) -> None:
        """As storing the answer through the service would have it."""
        if not create:
            return
        incident = self.diagnosis.incident
        if self.position == 1:
            incident.suspect_fault = self.fault
            incident.suspect_host = normalise_host(self.target_host)
            incident.save(update_fields=["suspect_fault", "suspect_host"])
        index(incident)


class FindingFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Finding

    diagnosis = factory.SubFactory(DiagnosisFactory, done=True)
    position = factory.Sequence(lambda n: n)
    detector = "signature"
    text = "uncorrectable ECC"
    target_kind = "host"
    target_host = "node-001"


class RecommendationFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Recommendation

    diagnosis = factory.SubFactory(DiagnosisFactory, done=True)
    position = factory.Sequence(lambda n: n + 1)
    action = "isolate-host"
    reason = "uncorrectable ECC"
    target_kind = "host"
    target_name = "node-001"
    target_host = "node-001"


def actor(role: Role = Role.OPERATOR, *, scopes: frozenset[Capability] | None = None) -> Actor:
    """Someone with a role, who stands in no table."""
    return Actor(role=role, label=f"a {role.value}", source=Source.API, scopes=scopes)
