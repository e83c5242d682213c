"""What people change of their own account."""

from django import forms
from django.contrib import messages
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import PasswordChangeView
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse_lazy

from incidents.choices import Source
from incidents.models import User
from incidents.roles import Actor
from incidents.services import people


class PasswordChange(PasswordChangeView):
    """A new password for whoever is signed in; their other sessions end."""

    template_name = "registration/password.html"
    success_url = reverse_lazy("incidents:desk")

    @transaction.atomic
    def form_valid(self, form: forms.BaseForm) -> HttpResponse:
        response = super().form_valid(form)
        assert isinstance(form, PasswordChangeForm)
        assert isinstance(form.user, User)
        people.password_changed(actor=Actor.of_user(form.user, source=Source.BROWSER))
        messages.success(self.request, "Your password is changed. Other sessions were logged out.")
        return response
