"""The project: wiring and nothing else."""

from aegis_web.celery import app as celery_app

__all__ = ["celery_app"]
