"""People and tokens in the admin site."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from incidents import models, selectors
from incidents.admin.base import Recorded, actor_of
from incidents.choices import Role
from incidents.exceptions import RecordsError
from incidents.roles import CAPABILITIES, Actor, Capability
from incidents.services import people, tokens

admin.site.unregister(Group)


class PersonForm(UserChangeForm["models.User"]):
    """Keeps the last administrator in office."""

    def clean_clusters(self) -> list[str]:
        return _names(self.cleaned_data["clusters"])

    def clean_owners(self) -> list[str]:
        return _names(self.cleaned_data["owners"])

    def clean(self) -> dict[str, Any] | None:
        given = super().clean()
        stays = given and given.get("role") == Role.ADMIN and given.get("is_active")
        if not stays and self.instance.pk and people.is_last_administrator(self.instance):
            raise forms.ValidationError("Someone has to stay administrator.")
        return given


@admin.register(models.User)
class PersonAdmin(Recorded, UserAdmin["models.User"]):
    """People: the role says what they may do, so Django's own permissions are not shown."""

    form = PersonForm
    list_display = ("username", "first_name", "last_name", "role", "is_active", "last_login")
    list_filter = ("role", "is_active")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email", "time_zone")}),
        ("Access", {"fields": ("role", "is_active", "clusters", "owners")}),
    )
    add_fieldsets = (
        (None, {"fields": ("username", "usable_password", "password1", "password2", "role")}),
    )
    filter_horizontal = ()


class TokenForm(forms.ModelForm["models.ApiToken"]):
    """A new token. `actor` is who makes it, and limits the scopes to their own rights."""

    actor: Actor
    scopes = forms.MultipleChoiceField(
        choices=[(one.value, one.value.replace("_", " ")) for one in Capability],
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = models.ApiToken
        fields = ("name", "owner", "scopes", "expires_at", "clusters", "owners")

    def clean_scopes(self) -> list[str]:
        try:
            return sorted(tokens.grantable(actor=self.actor, scopes=self.cleaned_data["scopes"]))
        except RecordsError as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any] | None:
        """Refuses scopes that the owner's role does not have: the token could not use them."""
        given = super().clean()
        owner, scopes = self.cleaned_data.get("owner"), self.cleaned_data.get("scopes", ())
        if owner is not None:
            beyond = sorted(set(scopes) - CAPABILITIES[Role(owner.role)])
            if beyond:
                role = owner.get_role_display().lower()
                told = f"{owner}, {role}, may not: {', '.join(beyond)}. Leave them out."
                self.add_error("scopes", told)
        return given

    def clean_clusters(self) -> list[str]:
        return _names(self.cleaned_data["clusters"])

    def clean_owners(self) -> list[str]:
        return _names(self.cleaned_data["owners"])

    def clean_expires_at(self) -> object:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at <= timezone.now():
            raise forms.ValidationError("The token would have expired already.")
        return expires_at


@admin.register(models.ApiToken)
class ApiTokenAdmin(admin.ModelAdmin["models.ApiToken"]):
    """Tokens are made, shown once, and revoked; never changed or deleted."""

    form = TokenForm
    list_display = ("name", "prefix", "owner", "expires_at", "last_used_at", "revoked_at")
    search_fields = ("name", "prefix", "owner__username")
    actions = ("revoke",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.ApiToken]:
        return selectors.tokens()

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        made = super().get_form(request, *args, **kwargs)
        return type(made.__name__, (made,), {"actor": actor_of(request)})

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Issues the token and shows its text, this once."""
        given = {name: form.cleaned_data[name] for name in TokenForm.Meta.fields}
        issued = tokens.issue(actor=actor_of(request), **given)
        obj.__dict__.update(issued.token.__dict__)
        messages.warning(request, f"Copy the token now, it is not shown again: {issued.raw}")

    @admin.action(description="Revoke selected tokens", permissions=["add"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[models.ApiToken]) -> None:
        for token in queryset:
            tokens.revoke(actor=actor_of(request), token=token)
        messages.success(request, "Revoked.")


def _names(given: Any) -> list[str]:
    """A list of names, as `["hall-2"]`; nothing is no limit."""
    if not given:
        return []
    if not isinstance(given, list) or not all(isinstance(name, str) and name for name in given):
        raise forms.ValidationError('Write a list of names: ["hall-2"].')
    return sorted(set(given))
