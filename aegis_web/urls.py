"""Every address of the product."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from aegis_web.health import health
from aegis_web.login import LogIn
from incidents.api.viewsets.problems import NothingHere
from incidents.views.account import PasswordChange

api: list[URLPattern | URLResolver] = [
    path("", include("incidents.api.urls")),
    path("", include("diagnosis.api.urls")),
    path("schema", SpectacularAPIView.as_view(), name="schema"),
    path(
        "docs",
        login_required(SpectacularSwaggerSplitView.as_view(url_name="schema")),
        name="api-docs",
    ),
]

sign_on: list[URLPattern | URLResolver] = (
    [path("sign-on/", include("aegis_web.sign_on_urls"))] if settings.SIGN_ON else []
)

urlpatterns = [
    *sign_on,
    path("admin/", admin.site.urls),
    path("api/v1/", include(api)),
    re_path(r"^api/", NothingHere.as_view()),
    path("health", health, name="health"),
    path("login", LogIn.as_view(), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("password", PasswordChange.as_view(), name="password"),
    path("", include("diagnosis.urls")),
    path("", include("incidents.urls")),
]
