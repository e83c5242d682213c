"""What people fill in. Services check again; here the words for the person are found."""

from typing import Any

from django import forms

from incidents import selectors
from incidents.choices import Action, DecisionKind, HostState, IncidentKind, Resolution, Severity
from incidents.models import Attempt, Incident

#: How many attempts are offered in a new incident's list.
_RECENT = 200


class NewIncidentForm(forms.Form):
    """A new incident. The files beside it are read from the request."""

    title = forms.CharField(max_length=300, required=False)
    kind = forms.ChoiceField(choices=IncidentKind.choices, initial=IncidentKind.NONE)
    severity = forms.ChoiceField(choices=Severity.choices, initial=Severity.MEDIUM, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["attempt"] = _attempt_field()

    def clean_title(self) -> str:
        """A title of the person's, or none: then the job's name serves."""
        title: str = self.cleaned_data["title"].strip()
        return title


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


class StepForm(forms.Form):
    """A step of an incident's life; `version` is the one that the person saw."""

    version = forms.IntegerField(required=False, min_value=1)
    note = forms.CharField(required=False, max_length=4000)
    resolution = forms.ChoiceField(choices=[("", ""), *Resolution.choices], required=False)


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
