"""What the forms of the knowledge share: a reason for every change, and lists written by line."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.validators import MinValueValidator

from diagnosis.admin.escalation import EscalationField
from diagnosis.models import FaultType, IgnoreRule, MaintenanceWindow, Signature


class WhyForm(forms.ModelForm[Any]):
    """Asks for the reason, which the version keeps."""

    why = forms.CharField(
        label="Why",
        max_length=500,
        help_text="The reason for this change, for whoever reads the versions later.",
        widget=forms.TextInput(attrs={"class": "vTextField"}),
    )


class LinesField(forms.CharField):
    """A list of texts, written one a line."""

    widget = forms.Textarea

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        return [line for line in str(value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != self.to_python(data)


class SignatureFields(forms.ModelForm[Signature]):
    """Examples are written one a line."""

    examples = LinesField(
        required=False, help_text="Lines that the pattern must match, one a line."
    )
    escalates = EscalationField(label="When it repeats")
    escalation_idea = EscalationField(
        label="Idea, switched off", help_text="The same, kept for later: it has no effect."
    )


class SignatureForm(WhyForm, SignatureFields):
    """A signature, and why it is changed."""

    class Meta:
        model = Signature
        exclude = ()  # noqa: DJ006 - all that the admin site leaves editable


class FaultTypeForm(WhyForm):
    """A runbook's address without scheme is one of HTTPS."""

    runbook = forms.URLField(label="Runbook link", required=False, assume_scheme="https")

    class Meta:
        model = FaultType
        exclude = ()  # noqa: DJ006 - all that the admin site leaves editable


_AFTER_2000 = MinValueValidator(
    datetime(2000, 1, 1, tzinfo=UTC), "Give a time after the year 2000."
)


class InstantField(forms.DateTimeField):
    """A time in UTC, in one field that browsers know; a year half typed is refused."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

    def __init__(self, **given: Any) -> None:
        super().__init__(validators=[_AFTER_2000], **given)


class SiteRuleForm(WhyForm):
    """A rule that has a reason of its own, which the version keeps where nothing else is said."""

    why = forms.CharField(
        label="Why now",
        max_length=500,
        required=False,
        help_text="Of this change. Left empty, the reason of the rule stands for it.",
        widget=forms.TextInput(attrs={"class": "vTextField"}),
    )

    def clean(self) -> dict[str, Any] | None:
        given = super().clean()
        if not self.cleaned_data.get("why"):
            self.cleaned_data["why"] = self.cleaned_data.get("reason", "")
        return given


class IgnoreForm(SiteRuleForm):
    """When it expires is a time in UTC."""

    expires_at = InstantField(
        label="Expires (UTC)", help_text="It counts for incidents that began before that."
    )

    class Meta:
        model = IgnoreRule
        exclude = ()  # noqa: DJ006 - all that the admin site leaves editable


class MaintenanceForm(SiteRuleForm):
    """Hosts are written one a line; times are in UTC."""

    starts_at = InstantField(label="From (UTC)")
    ends_at = InstantField(label="Until (UTC)")

    hosts = LinesField(
        required=False,
        help_text="Host names, one a line. None, and no job: the whole cluster.",
        widget=forms.Textarea(attrs={"rows": 5, "class": "vLargeTextField"}),
    )

    class Meta:
        model = MaintenanceWindow
        exclude = ()  # noqa: DJ006 - all that the admin site leaves editable

    def clean_hosts(self) -> list[str]:
        return sorted({host.strip() for host in self.cleaned_data["hosts"]})
