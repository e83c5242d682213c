"""Tokens, and who one is."""

from typing import Any

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.fields import InstantField, NamedField
from incidents.choices import Role
from incidents.models import ApiToken, User
from incidents.roles import Capability

#: What tokens may be narrowed to.
SCOPES = [(scope.value, scope.value) for scope in Capability]


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token: its owner's role, narrowed to scopes. Its secret is never shown again."""

    owner = serializers.CharField(source="owner.username")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    clusters = serializers.ListField(
        child=serializers.CharField(), help_text="Empty: as far as its owner."
    )
    owners = serializers.ListField(
        child=serializers.CharField(), help_text="Of jobs; empty: as far as its owner."
    )
    created_at = InstantField()
    expires_at = InstantField()
    last_used_at = InstantField(allow_null=True)
    revoked_at = InstantField(allow_null=True)

    class Meta:
        model = ApiToken
        fields = [
            "id",
            "name",
            "owner",
            "prefix",
            "scopes",
            "clusters",
            "owners",
            "created_by",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
        ]


class IssuedTokenSerializer(TokenSerializer):
    """A new token with its text, which is shown this once."""

    token = serializers.CharField(
        allow_null=True, help_text="Null where an answer is replayed: it is kept nowhere."
    )

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]


class TokenRequestSerializer(RequestSerializer):
    """A token to issue."""

    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=SCOPES), allow_empty=False, max_length=len(SCOPES)
    )
    expires_at = InstantField()
    clusters = serializers.ListField(
        child=serializers.CharField(max_length=100), required=False, max_length=1000
    )
    owners = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, max_length=1000
    )
    owner = NamedField(
        slug_field="username",
        queryset=User.objects.filter(is_active=True),
        required=False,
        help_text="Whose role it carries; yourself where left out.",
    )


class MeSerializer(serializers.Serializer[Any]):
    """Who is asking, and what that allows."""

    username = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    capabilities = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    clusters = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="Null: every cluster."
    )
    owners = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="Null: jobs of everyone."
    )
    token = TokenSerializer(allow_null=True)
