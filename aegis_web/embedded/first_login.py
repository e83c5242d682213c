"""The account that a fresh instance starts with, and what to print about it."""

import secrets
from pathlib import Path

from incidents.choices import Role
from incidents.models import User

NAME = "admin"


def first_login(data_dir: Path) -> str:
    """One line that tells how to log in; makes the first account where there is none.

    The password is kept beside the database, readable by its owner only, until someone changes it.
    """
    kept = data_dir / "first-login"
    if not User.objects.exists():
        password = secrets.token_urlsafe(12)
        User.objects.create_user(username=NAME, password=password, role=Role.ADMIN)
        kept.touch(mode=0o600)
        kept.write_text(password)
        return f"{NAME} / {password}"
    admin = User.objects.filter(username=NAME).first()
    if admin and kept.exists() and admin.check_password(kept.read_text()):
        return f"{NAME} / {kept.read_text()}"
    return "with your own account"
