"""Fault types and signatures in the admin site: the next diagnosis uses what is saved here."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from diagnosis.admin.forms import FaultTypeForm, SignatureFields, SignatureForm
from diagnosis.models import FaultType, Signature
from diagnosis.services import taxonomy
from incidents.admin.base import actor_of


class Versioned(admin.ModelAdmin[Any]):
    """Keeps a version of the rules after each change, with the reason that the form asks for."""

    save_on_top = True

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        did = "changed" if change else "added"
        self._keep_version(request, f"{form.instance} {did}: {form.cleaned_data['why']}")

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        name = str(obj)
        super().delete_model(request, obj)
        self._keep_version(request, f"{name} deleted")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Without deleting in bulk, which would ask no row whether it is shipped."""
        return {
            name: one
            for name, one in super().get_actions(request).items()
            if name != "delete_selected"
        }

    def _keep_version(self, request: HttpRequest, why: str) -> None:
        taxonomy.record_version(actor=actor_of(request), why=why)


class KnowledgeAdmin(Versioned):
    """Marks what people edit.

    Shipped rows are switched off rather than deleted: the next load would bring them back.
    """

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.edited = True
        super().save_model(request, obj, form, change)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        for row in formset.save(commit=False):
            row.edited = True
            row.save()
        formset.save_m2m()

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        if obj is None or getattr(obj, "shipped", False):
            return False
        return super().has_delete_permission(request, obj)


class SignatureInline(admin.StackedInline[Signature, FaultType]):
    """The signatures of a fault type, beside it."""

    model = Signature
    form = SignatureFields
    extra = 0
    can_delete = False
    show_change_link = True


@admin.register(FaultType)
class FaultTypeAdmin(KnowledgeAdmin):
    """Fault types with their signatures."""

    form = FaultTypeForm
    list_display = ("code", "title", "component", "fault_class", "severity", "action", "edited")
    list_filter = ("fault_class", "severity", "action", "component", "edited")
    search_fields = ("code", "title", "explanation")
    inlines = (SignatureInline,)


@admin.register(Signature)
class SignatureAdmin(KnowledgeAdmin):
    """Signatures: patterns are checked as RE2, and against their examples."""

    form = SignatureForm
    list_display = ("code", "fault_type", "stream", "implicates", "priority", "enabled", "edited")
    list_filter = ("enabled", "stream", "implicates", "follow_on", "edited")
    search_fields = ("code", "pattern", "fault_type__code", "fault_type__title")
    autocomplete_fields = ("fault_type",)
    list_select_related = ("fault_type",)
