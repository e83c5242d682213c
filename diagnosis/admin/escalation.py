"""When a repeated fault moves to another class, as the admin site shows and checks it."""

from typing import Any

from django import forms

from diagnosis.taxonomy.rows import TaxonomyError, escalation_in

_SHAPE = (
    'Empty: a repeated hit stays what it is. Otherwise, as JSON: {"to": "critical", "key": "gpu", '
    '"count": 2, "window_hours": 72, "across_jobs": true}: the second hit on one GPU (key: gpu, '
    "host, link, switch or job) within 72 hours, from different jobs, counts as critical."
)


class EscalationField(forms.JSONField):
    """An escalation as JSON, or nothing: a database's null is an empty field."""

    widget = forms.Textarea(attrs={"rows": 3, "cols": 80})

    def __init__(self, *, label: str, help_text: str = _SHAPE, **options: Any) -> None:
        super().__init__(label=label, help_text=help_text, required=False, **options)

    def prepare_value(self, value: Any) -> Any:
        return "" if value in (None, "null") else super().prepare_value(value)

    def to_python(self, value: Any) -> Any:
        given = super().to_python(value)
        try:
            escalation_in({"escalation": given}, "escalation", "This field")
        except TaxonomyError as error:
            raise forms.ValidationError(str(error)) from error
        return given or None
