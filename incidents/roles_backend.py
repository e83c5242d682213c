"""Django's questions about permission, answered from the table of roles.

A model says which capability changes it (`edited_by`) and which one shows it (`read_by`, `read`
where it says nothing); models of other apps belong to administrators.
"""

from typing import Any

from django.apps import apps
from django.contrib.auth.backends import ModelBackend
from django.db.models import Model

from incidents.choices import Source
from incidents.roles import Actor, Capability

_EDITS = frozenset({"add", "change", "delete"})


class RoleBackend(ModelBackend):
    """Signs people in by password, and answers permission by role."""

    def has_perm(self, user_obj: Any, perm: str, obj: Model | None = None) -> bool:
        """Whether the role covers `app.action_model`; never asks groups or stored permissions."""
        if not user_obj.is_active or user_obj.is_anonymous:
            return False
        app_label, _, codename = perm.partition(".")
        action, _, model_name = codename.partition("_")
        actor = Actor.of_user(user_obj, source=Source.ADMIN)
        return actor.may(capability_for(app_label, action, model_name))

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        """Whether anything of an app may be seen."""
        return any(
            self.has_perm(user_obj, f"{app_label}.view_{model._meta.model_name}")
            for model in apps.get_app_config(app_label).get_models()
        )

    def get_all_permissions(self, user_obj: Any, obj: Model | None = None) -> set[str]:
        """Every permission that the role covers, in Django's words."""
        return {
            perm
            for model in apps.get_models()
            for action in model._meta.default_permissions
            if self.has_perm(
                user_obj, perm := f"{model._meta.app_label}.{action}_{model._meta.model_name}"
            )
        }


def capability_for(app_label: str, action: str, model_name: str) -> Capability:
    """The capability that an action on a model takes."""
    try:
        model = apps.get_model(app_label, model_name)
    except LookupError:
        return Capability.ADMINISTER
    if not hasattr(model, "edited_by"):
        return Capability.ADMINISTER
    if action in _EDITS:
        return Capability(model.edited_by)
    return Capability(getattr(model, "read_by", Capability.READ))
