"""`manage.py issue_token`: a token for a program, printed once."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from incidents.choices import Source
from incidents.exceptions import RecordsError
from incidents.models import User
from incidents.roles import Actor, Capability
from incidents.services import tokens

#: How long a token is good for where nobody says otherwise.
DAYS = 90


class Command(BaseCommand):
    """Prints the token's text, and nothing else, on standard output."""

    help = "Issue an API token. Its text is printed once and stored hashed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", help="whose role the token carries")
        parser.add_argument("--name", required=True, help="what it is for, such as 'ticket system'")
        parser.add_argument(
            "--scope",
            action="append",
            choices=[capability.value for capability in Capability],
            dest="scopes",
            help="may be given several times; without any: whatever the owner's role allows",
        )
        parser.add_argument("--days", type=int, default=DAYS, help=f"days it is good for ({DAYS})")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = User.objects.filter(username=options["username"], is_active=True).first()
        if owner is None:
            raise CommandError(f"There is nobody called {options['username']} who is active.")
        allowed = Actor.of_user(owner, source=Source.CLI).capabilities
        try:
            issued = tokens.issue(
                actor=Actor.system("issue_token", source=Source.CLI),
                owner=owner,
                name=options["name"],
                scopes=options["scopes"] or sorted(allowed),
                expires_at=timezone.now() + timedelta(days=options["days"]),
            )
        except (RecordsError, OverflowError) as error:
            raise CommandError(str(error)) from error
        if beyond := set(issued.token.scopes) - allowed:
            self.stderr.write(f"{owner} may not use: {', '.join(sorted(beyond))}.")
        self.stdout.write(issued.raw)
