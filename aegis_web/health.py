"""Whether this instance can serve: asked by load balancers and by the embedded set-up's start."""

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import KombuError, OperationalError

from aegis_web.celery import app

#: Seconds that the broker gets to answer.
_PATIENCE = 1.0


@login_not_required
@require_safe
@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """200 while pages can be served; a broker that is down only delays diagnoses."""
    database, broker = database_answers(), broker_answers()
    state = {True: "ok", False: "unreachable"}
    status = "ok" if database and broker else "degraded" if database else "down"
    return JsonResponse(
        {"status": status, "database": state[database], "broker": state[broker]},
        status=200 if database else 503,
    )


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def broker_answers() -> bool:
    try:
        with app.connection_for_write(connect_timeout=_PATIENCE) as broker:
            broker.ensure_connection(max_retries=1, timeout=_PATIENCE)
    except (OperationalError, KombuError, OSError):
        return False
    return True
