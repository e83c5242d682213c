"""What people edit of the diagnosis in the admin site."""

from diagnosis.admin import knowledge, watch

__all__ = ["knowledge", "watch"]
