"""The Celery application. Workers run `celery -A aegis_web worker`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aegis_web.settings")

app = Celery("aegis")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
