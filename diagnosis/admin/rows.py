"""A row of the taxonomy as a form in the workbench, and back."""

from collections.abc import Mapping
from typing import Any

import yaml
from django import forms

from diagnosis.admin.forms import LinesField
from diagnosis.core.words import Action, SignatureClass
from diagnosis.models.words import choices
from diagnosis.taxonomy.patterns import PatternError, check_pattern
from diagnosis.taxonomy.rows import normal_row
from diagnosis.taxonomy.signature import Implicates, Severity, Stream


class YamlField(forms.CharField):
    """A mapping written as YAML; empty for none."""

    widget = forms.Textarea

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return yaml.safe_dump(dict(value), sort_keys=False, allow_unicode=True).strip()
        return value

    def to_python(self, value: Any) -> Any:
        text = str(value or "").strip()
        if not text:
            return None
        try:
            found = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise forms.ValidationError(f"Not YAML: {str(error).splitlines()[0]}") from error
        if not isinstance(found, dict):
            raise forms.ValidationError("Write fields: 'to: critical', 'key: gpu', …")
        return found


def _area(rows: int, **attrs: str) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "spellcheck": "false", **attrs})


class RowForm(forms.Form):
    """One signature with its fault type, as `default.yaml` has it."""

    code = forms.SlugField(max_length=100, help_text="Small letters and digits, with hyphens.")
    title = forms.CharField(max_length=200)
    pattern = forms.CharField(
        widget=_area(4),
        strip=False,
        help_text=(
            "RE2, searched within one line; ^ is the start of the message. "
            "Named groups: pci, gpu, dev, host, peer, rank, …"
        ),
    )
    priority = forms.IntegerField(help_text="Of several that match one line, the highest wins.")
    fault_class = forms.ChoiceField(label="Class", choices=choices(SignatureClass))
    severity = forms.ChoiceField(choices=choices(Severity))
    action = forms.ChoiceField(choices=choices(Action))
    implicates = forms.ChoiceField(choices=choices(Implicates))
    stream = forms.ChoiceField(choices=choices(Stream))
    component = forms.CharField(max_length=50)
    follow_on = forms.BooleanField(label="Consequence, not cause", required=False)
    enabled = forms.BooleanField(required=False, initial=True)
    examples = LinesField(
        required=False, widget=_area(4), help_text="Lines that it must match, one a line."
    )
    explanation = forms.CharField(required=False, widget=_area(3))
    runbook = forms.URLField(label="Runbook link", required=False, assume_scheme="https")
    fault_type = forms.SlugField(
        required=False, help_text="Where several signatures tell one fault type: its code."
    )
    source = forms.CharField(max_length=500, required=False)
    evidence = forms.CharField(
        label="Provenance", max_length=16, required=False, help_text="source, table, log or known."
    )
    escalates = YamlField(
        required=False,
        widget=_area(3),
        help_text="Kept and versioned with the rule; diagnoses do not act on it yet.",
    )
    escalation_idea = YamlField(
        required=False, widget=_area(3), help_text="The same shape, switched off."
    )

    def clean_pattern(self) -> str:
        pattern: str = self.cleaned_data["pattern"]
        try:
            check_pattern(pattern)
        except PatternError as error:
            raise forms.ValidationError(str(error)) from error
        return pattern

    @classmethod
    def of_row(cls, row: Mapping[str, object], data: Any = None) -> "RowForm":
        """The form filled in from a row; its code is fixed."""
        initial = {"enabled": True, **row, "fault_class": row.get("class")}
        form = cls(data, initial=initial)
        form.fields["code"].widget.attrs["readonly"] = True
        return form

    def row(self) -> dict[str, object]:
        """The row that was written, in its normal form."""
        given = dict(self.cleaned_data)
        given["class"] = given.pop("fault_class")
        return normal_row(given)
