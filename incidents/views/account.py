"""What people change of their own account."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import PasswordChangeView
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse_lazy

from incidents.services import people
from incidents.views.requests import PageRequest, actor_of


class PasswordChange(PasswordChangeView):
    """A new password for whoever is signed in; their other sessions end."""

    template_name = "registration/password.html"
    success_url = reverse_lazy("incidents:desk")

    @transaction.atomic
    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        response = super().form_valid(form)
        people.password_changed(actor=actor_of(cast("PageRequest", self.request)))
        messages.success(self.request, "Your password is changed. Other sessions were logged out.")
        return response
