"""The addresses of single sign-on, included where it is on."""

from django.contrib.auth.decorators import login_not_required
from django.urls import path
from mozilla_django_oidc.views import OIDCAuthenticationRequestView

from aegis_web.sign_on import SignOnCallback

urlpatterns = [
    path(
        "start", login_not_required(OIDCAuthenticationRequestView.as_view()), name="sign-on-start"
    ),
    path("callback", login_not_required(SignOnCallback.as_view()), name="sign-on-callback"),
]
