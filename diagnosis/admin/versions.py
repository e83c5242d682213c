"""Versions of the rules in the admin site: what each changed, going back, files in and out."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path

from diagnosis.models import TaxonomyVersion
from diagnosis.services import drafts, exchange, versions
from diagnosis.services.rulebook import rulebook_of
from diagnosis.taxonomy.documents import to_yaml
from incidents.admin.base import ReadOnly, actor_of
from incidents.roles import Capability

#: A file that is pasted back from the preview travels as a form field.
_MAX_UPLOAD = 2 * 1024**2


class ReasonForm(forms.Form):
    """Why something is changed."""

    why = forms.CharField(
        label="Why", max_length=500, widget=forms.TextInput(attrs={"class": "vTextField"})
    )


class UploadForm(forms.Form):
    """A file of rules."""

    file = forms.FileField(label="YAML file")
    remove_missing = forms.BooleanField(
        label="Remove signatures that the file leaves out (shipped ones are switched off)",
        required=False,
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > _MAX_UPLOAD:
            raise forms.ValidationError("Larger than 2 MiB: use `manage.py taxonomy import`.")
        return file


class ApplyForm(ReasonForm):
    """A file that has been previewed; `seen` is the newest version at that moment."""

    content = forms.CharField(widget=forms.HiddenInput, strip=False)
    remove_missing = forms.BooleanField(required=False, widget=forms.HiddenInput)
    seen = forms.IntegerField(widget=forms.HiddenInput)
    field_order = ("why",)


def needs_taxonomist(request: HttpRequest) -> None:
    """Raises `PermissionDenied` for everyone else."""
    if not actor_of(request).may(Capability.EDIT_TAXONOMY):
        raise PermissionDenied


@admin.register(TaxonomyVersion)
class TaxonomyVersionAdmin(ReadOnly):
    """Every version of the rules, with who changed what."""

    list_display = ("created_at", "who", "why", "version")
    list_display_links = ("created_at",)
    search_fields = ("version", "in_clusters__version", "who", "why")
    fields = ("version", "created_at", "who", "why")
    change_list_template = "admin/diagnosis/taxonomyversion/change_list.html"
    change_form_template = "admin/diagnosis/taxonomyversion/change_form.html"

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("rows")

    def get_urls(self) -> list[URLPattern]:
        own = [
            path("export", self._view(self.export), name="taxonomy_export"),
            path("import", self._view(self.upload), name="taxonomy_import"),
            path("import/apply", self._view(self.take_in), name="taxonomy_import_apply"),
            path("<int:pk>/restore", self._view(self.restore), name="taxonomy_restore"),
            path("<int:pk>/yaml", self._view(self.as_yaml), name="taxonomy_version_yaml"),
        ]
        return [*own, *super().get_urls()]

    def _view(self, view: Any) -> Any:
        return self.admin_site.admin_view(view)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        version = self.get_object(request, object_id)
        more: dict[str, Any] = {}
        if version is not None:
            more = {
                "changes": versions.changes_of(version),
                "first": versions.is_first(version),
                "newest": not TaxonomyVersion.objects.filter(pk__gt=version.pk).exists(),
                "clusters": version.in_clusters.all(),
                "size": len(version.rows),
                "may_edit": actor_of(request).may(Capability.EDIT_TAXONOMY),
            }
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **more})

    def export(self, request: HttpRequest) -> HttpResponse:
        """All rules as they are, as a file."""
        return _file(exchange.export(), "taxonomy.yaml")

    def as_yaml(self, request: HttpRequest, pk: int) -> HttpResponse:
        """One version as a file."""
        version = get_object_or_404(TaxonomyVersion, pk=pk)
        return _file(to_yaml(rulebook_of(version)), f"taxonomy-{version.version}.yaml")

    def restore(self, request: HttpRequest, pk: int) -> HttpResponse:
        """What going back would change; then, with a reason, going back."""
        needs_taxonomist(request)
        version = get_object_or_404(TaxonomyVersion, pk=pk)
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            done = versions.restore(
                actor=actor_of(request), version=version, why=form.cleaned_data["why"]
            )
            if done is None:
                messages.info(request, "The rules are already as they were then.")
            else:
                messages.success(request, "Restored. The next diagnosis uses these rules.")
            return redirect("admin:diagnosis_taxonomyversion_change", (done or version).pk)
        context = {"form": form, "version": version}
        context["changes"] = versions.changes_by_restoring(version)
        return self._page(request, "restore.html", f"Restore version {version.pk}", context)

    def upload(self, request: HttpRequest) -> HttpResponse:
        """A file, and what taking it in would change."""
        needs_taxonomist(request)
        form = UploadForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            content: bytes = form.cleaned_data["file"].read()
            return self._preview(request, content, form.cleaned_data["remove_missing"])
        return self._page(request, "import.html", "Import rules", {"form": form})

    def take_in(self, request: HttpRequest) -> HttpResponse:
        """The file whose preview was seen, unless the rules have changed meanwhile."""
        needs_taxonomist(request)
        form = ApplyForm(request.POST)
        form.fields["why"].required = "draft" not in request.POST
        if not form.is_valid():
            content = request.POST.get("content", "").encode()
            return self._preview(request, content, bool(request.POST.get("remove_missing")), form)
        given = form.cleaned_data
        content = given["content"].encode()
        if given["seen"] != _newest():
            messages.warning(request, "The rules have changed meanwhile: look at this again.")
            return self._preview(request, content, given["remove_missing"])
        if "draft" in request.POST:
            return self._into_draft(request, content, given["remove_missing"])
        try:
            _, version = exchange.take_in(
                actor=actor_of(request),
                content=content,
                why=given["why"],
                remove_missing=given["remove_missing"],
            )
        except exchange.ImportRefused:
            return self._preview(request, content, given["remove_missing"])
        if version is None:
            messages.info(request, "The rules are already what the file says.")
            return redirect("admin:diagnosis_taxonomyversion_changelist")
        messages.success(request, "Imported. The next diagnosis uses these rules.")
        return redirect("admin:diagnosis_taxonomyversion_change", version.pk)

    def _into_draft(
        self, request: HttpRequest, content: bytes, remove_missing: bool
    ) -> HttpResponse:
        actor = actor_of(request)
        try:
            mine = drafts.start(actor=actor, author=request.user)  # type: ignore[arg-type]
            drafts.put_file(actor=actor, draft=mine, content=content, remove_missing=remove_missing)
        except exchange.ImportRefused:
            return self._preview(request, content, remove_missing)
        messages.success(request, "It is in your draft. Nothing is live until you publish.")
        return redirect("admin:diagnosis_taxonomydraft_changelist")

    def _preview(
        self,
        request: HttpRequest,
        content: bytes,
        remove_missing: bool,
        form: ApplyForm | None = None,
    ) -> HttpResponse:
        context: dict[str, Any] = {"form": UploadForm()}
        try:
            text = content.decode("utf-8")
            context["preview"] = exchange.preview(content, remove_missing=remove_missing)
            seen = {"content": text, "remove_missing": remove_missing, "seen": _newest()}
            context["apply"] = form or ApplyForm(initial=seen)
        except UnicodeDecodeError:
            context["problems"] = ["The file is not UTF-8 text."]
        except exchange.ImportRefused as error:
            context["problems"] = error.problems
        return self._page(request, "import.html", "Import rules", context)

    def _page(
        self, request: HttpRequest, template: str, title: str, context: dict[str, Any]
    ) -> HttpResponse:
        shared = {**self.admin_site.each_context(request), "title": title, "opts": self.opts}
        where = f"admin/diagnosis/taxonomyversion/{template}"
        return render(request, where, {**shared, **context})


def _newest() -> int:
    return TaxonomyVersion.objects.values_list("pk", flat=True).first() or 0


def _file(text: str, name: str) -> HttpResponse:
    answer = HttpResponse(text, content_type="application/yaml; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
