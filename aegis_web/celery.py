"""The Celery application. Workers run `celery -A aegis_web worker`."""

import os

from celery import Celery
from celery.signals import worker_init

from aegis_web.allocator import give_back_what_is_freed

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aegis_web.settings")

app = Celery("aegis")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def tell_the_allocator(**kwargs: object) -> None:
    """Workers run for months over arrays of all sizes; their children inherit this."""
    give_back_what_is_freed()


worker_init.connect(tell_the_allocator, weak=False)
