"""What the forms of the knowledge share: a reason for every change, and lists written by line."""

from typing import Any

from django import forms

from diagnosis.models import FaultType, MaintenanceWindow, Signature


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


class MaintenanceForm(WhyForm):
    """Hosts are written one a line."""

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
