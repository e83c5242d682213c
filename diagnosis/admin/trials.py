"""What the workbench answers while someone types: the signature of the form, tried on a text."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict

from diagnosis.admin.rows import RowForm
from diagnosis.models import TaxonomyDraft, TaxonomyVersion
from diagnosis.services import drafts
from diagnosis.services.trial import MAX_BYTES, try_out
from diagnosis.taxonomy.rows import signature_from_row
from diagnosis.taxonomy.ruleset import Taxonomy

#: What decides which lines a signature wins.
_DECISIVE = ("pattern", "priority", "severity")
_FILLING = {
    "title": "this signature",
    "component": "any",
    "class": "info",
    "stream": "job",
    "implicates": "none",
    "action": "none",
}

Key = tuple[int, str, int, int, str]

#: Taxonomies without the signature on trial, by what they were made from: building one takes a
#: fraction of a second, and someone who types asks several times a second.
_others: OrderedDict[Key, Taxonomy] = OrderedDict()
_KEPT = 4


def answer(given: Mapping[str, str], draft: TaxonomyDraft | None) -> dict[str, object]:
    """The trial as JSON data, or `errors`: what is wrong, by field.

    Only what decides a match has to be filled in; the rest can wait until the row is saved.
    """
    form = RowForm(given)
    form.is_valid()
    wrong = {name: form.errors[name] for name in _DECISIVE if name in form.errors}
    if wrong:
        told = {name: " ".join(str(text) for text in texts) for name, texts in wrong.items()}
        return {"errors": told}
    decisive = {name: form.cleaned_data[name] for name in (*_DECISIVE, "enabled", "examples")}
    code = form.cleaned_data.get("code") or "this-signature"
    signature = signature_from_row({**_FILLING, **decisive, "code": code}, "signature")
    text = given.get("text", "")[: 2 * MAX_BYTES]
    return asdict(try_out(signature, _without(code, draft), text))


def _without(code: str, draft: TaxonomyDraft | None) -> Taxonomy:
    newest = TaxonomyVersion.objects.values_list("pk", "version").first() or (0, "")
    key = (*newest, draft.pk if draft else 0, draft.revision if draft else 0, code)
    if key not in _others:
        rows = drafts.rulebook_with(draft).signatures
        _others[key] = Taxonomy.from_rows([row for row in rows if row["code"] != code])
        while len(_others) > _KEPT:
            _others.popitem(last=False)
    return _others[key]
