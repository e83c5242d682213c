"""Administrators have what their role and reach give them, and no short cut beside it."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def ask_the_role(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("incidents", "User").objects.filter(is_superuser=True).update(is_superuser=False)


class Migration(migrations.Migration):
    dependencies = [("incidents", "0018_executions")]

    operations = [migrations.RunPython(ask_the_role, migrations.RunPython.noop)]
