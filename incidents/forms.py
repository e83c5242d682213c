"""What people fill in. Services check again; here the words for the person are found."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.http import QueryDict
from django.utils import timezone

from incidents import selectors
from incidents.choices import (
    Action,
    DecisionKind,
    HostState,
    IncidentKind,
    Outcome,
    Resolution,
    Severity,
)
from incidents.exceptions import InvalidInput
from incidents.figures.periods import Period
from incidents.models import Attempt, Incident

#: For how long an incident can be taken off the desk; `news` has no end of its own.
SNOOZES = (
    ("1h", "1 hour"),
    ("4h", "4 hours"),
    ("1d", "1 day"),
    ("3d", "3 days"),
    ("7d", "1 week"),
    ("news", "until something new arrives"),
)
_SPANS = {
    "1h": timedelta(hours=1),
    "4h": timedelta(hours=4),
    "1d": timedelta(days=1),
    "3d": timedelta(days=3),
    "7d": timedelta(days=7),
}
#: How many attempts are offered in a new incident's list.
_RECENT = 200
#: Days of a report that names none, and of the longest one.
_USUAL_REPORT, _LONGEST_REPORT = 28, 731


class NewIncidentForm(forms.Form):
    """A new incident: of files, a job or a title. A script that sends the files afterwards says
    how many are `to_come`.
    """

    title = forms.CharField(max_length=300, required=False)
    kind = forms.ChoiceField(choices=IncidentKind.choices, initial=IncidentKind.NONE)
    severity = forms.ChoiceField(choices=Severity.choices, initial=Severity.MEDIUM, required=False)
    to_come = forms.IntegerField(required=False, min_value=0)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["attempt"] = _attempt_field()

    def clean_title(self) -> str:
        """A title of the person's, or none: then the job's name serves."""
        title: str = self.cleaned_data["title"].strip()
        return title

    def clean(self) -> dict[str, Any]:
        """Refuses one that tells nothing: nobody could find or judge it."""
        given: dict[str, Any] = super().clean() or {}
        told = (given.get("title"), given.get("attempt"), given.get("to_come"), self.files)
        if not any(told) and not self.errors:
            raise forms.ValidationError(
                "There is nothing to go on yet: drop files, choose the job, "
                "or say in the title what you saw."
            )
        return given


class CorrectionForm(forms.Form):
    """What an incident should say instead; an attempt that is left empty stays what it is."""

    version = forms.IntegerField(required=False, min_value=1)
    title = forms.CharField(max_length=300)
    kind = forms.ChoiceField(choices=IncidentKind.choices)
    severity = forms.ChoiceField(choices=Severity.choices)

    def __init__(self, *args: Any, incident: Incident, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["attempt"] = _attempt_field(incident.attempt_id)


def _attempt_field(known: int | None = None) -> "forms.ModelChoiceField[Attempt]":
    """The attempts that started last, and the one that is `known` already."""
    recent = list(selectors.attempts().values_list("pk", flat=True)[:_RECENT])
    return forms.ModelChoiceField(
        queryset=selectors.attempts().filter(pk__in=[*recent, known or 0]),
        required=False,
        empty_label="not registered, or not known",
    )


class DecisionForm(forms.Form):
    """A decision; `seen` is the decision that stood when the page was made, 0 for none."""

    kind = forms.ChoiceField(choices=DecisionKind.choices)
    reason = forms.CharField(required=False, max_length=4000)
    changed_action = forms.ChoiceField(choices=[("", ""), *Action.choices], required=False)
    changed_target = forms.CharField(required=False, max_length=300)
    seen = forms.IntegerField(required=False, min_value=0)
    confirm = forms.BooleanField(required=False)


class StepForm(forms.Form):
    """A step of an incident's life; `version` is the one that the person saw."""

    version = forms.IntegerField(required=False, min_value=1)
    note = forms.CharField(required=False, max_length=4000)
    resolution = forms.ChoiceField(choices=[("", ""), *Resolution.choices], required=False)


def snooze_end(chosen: str) -> datetime | None:
    """When a snooze of this choice ends; None for one that lasts until something new arrives."""
    if chosen not in dict(SNOOZES):
        raise InvalidInput("Choose for how long.", field="snooze")
    span = _SPANS.get(chosen)
    return timezone.now() + span if span else None


class SnoozeForm(forms.Form):
    """For how long; `version` is the one that the person saw."""

    version = forms.IntegerField(required=False, min_value=1)
    snooze = forms.ChoiceField(choices=SNOOZES)


class MergeForm(forms.Form):
    """Into which incident, by its reference."""

    version = forms.IntegerField(required=False, min_value=1)
    into = forms.CharField(max_length=40)


class TicketForm(forms.Form):
    """A ticket about it in another system."""

    system = forms.CharField(required=False, max_length=50)
    key = forms.CharField(max_length=200)
    url = forms.CharField(required=False, max_length=1000)


class OpenTicketForm(forms.Form):
    """In which ticket system one is to be opened."""

    connector = forms.IntegerField(min_value=1)


class ViewForm(forms.Form):
    """A view of the desk: its name, the filters of the address, whether it is shared or first."""

    name = forms.CharField(max_length=60)
    query = forms.CharField(required=False, max_length=2000)
    shared = forms.BooleanField(required=False)
    first = forms.BooleanField(required=False)


class AssignForm(forms.Form):
    """Who looks after it: empty for nobody."""

    version = forms.IntegerField(required=False, min_value=1)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["assignee"] = forms.ModelChoiceField(
            queryset=selectors.people(), required=False, to_field_name="username"
        )


class NoteForm(forms.Form):
    """A note for the timeline."""

    text = forms.CharField(max_length=20_000)


class HostStateForm(forms.Form):
    """Where a host stands now; `seen` is where it stood when the page was made."""

    state = forms.ChoiceField(choices=HostState.choices)
    seen = forms.ChoiceField(choices=HostState.choices, required=False)
    note = forms.CharField(required=False, max_length=2000)


class RepairForm(forms.Form):
    """What repair found of a part that a decision had taken for bad."""

    found = forms.ChoiceField(
        choices=[(one.value, one.label) for one in (Outcome.PART_BAD, Outcome.PART_GOOD)]
    )
    note = forms.CharField(max_length=2000, required=False)


#: Days that a report may name.
_REPORTED = (
    MinValueValidator(date(2000, 1, 1), "Reports begin with the year 2000."),
    MaxValueValidator(date(2099, 12, 31), "Reports end with the year 2099."),
)


class ReportForm(forms.Form):
    """What a report is about. Without dates: the last four weeks."""

    cluster = forms.CharField(max_length=100, required=False)
    owner = forms.CharField(max_length=200, required=False)
    fault = forms.CharField(max_length=100, required=False)
    since = forms.DateField(required=False, validators=_REPORTED)
    until = forms.DateField(
        required=False, validators=_REPORTED, help_text="The last day, included."
    )

    @classmethod
    def of(cls, query: QueryDict) -> "ReportForm":
        """The form of an address; `from` and `to`, as the page calls them, name the days too."""
        given = query.copy()
        for name, label in (("since", "from"), ("until", "to")):
            if label in given and name not in given:
                given[name] = str(given[label])
        return cls(given)

    def clean(self) -> dict[str, Any]:
        """Refuses a period that ends before it begins, or is longer than two years."""
        given: dict[str, Any] = super().clean() or {}
        since, until = given.get("since"), given.get("until")
        last = until or timezone.now().date()
        if since and last < since:
            raise forms.ValidationError({"until": "The report ends before it begins."})
        if since and (last - since).days > _LONGEST_REPORT:
            raise forms.ValidationError({"since": "A report covers two years at most."})
        return given

    def period(self) -> Period:
        """The asked days, whole ones in UTC."""
        until, since = self.cleaned_data.get("until"), self.cleaned_data.get("since")
        last = until or timezone.now().date()
        first = since or last - timedelta(days=_USUAL_REPORT - 1)
        return Period(_midnight(first), _midnight(last + timedelta(days=1)))

    def last_day(self) -> date:
        """The last of the asked days."""
        return (self.period().until - timedelta(days=1)).date()

    def scope(self) -> selectors.Scope:
        """Cluster, owner and fault."""
        names = ("cluster", "owner", "fault")
        return selectors.Scope(**{name: self.cleaned_data.get(name, "") for name in names})


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
