"""Problem details (RFC 9457), for the OpenAPI document, and the kinds of them."""

from typing import Any

from rest_framework import serializers


class ProblemErrorSerializer(serializers.Serializer[Any]):
    """One value that cannot be taken."""

    detail = serializers.CharField()
    pointer = serializers.CharField(
        required=False, help_text="JSON pointer into the body, as a URI fragment: `#/hosts/0`."
    )
    parameter = serializers.CharField(required=False, help_text="Parameter of the query.")


class ProblemSerializer(serializers.Serializer[Any]):
    """Every error has this form (RFC 9457)."""

    type = serializers.CharField(help_text="Stable for a kind of error; its meaning is there.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Adds `errors`, a name that serializers keep for themselves."""
        return {**super().get_fields(), "errors": ProblemErrorSerializer(many=True, required=False)}


class ProblemKindSerializer(serializers.Serializer[Any]):
    """One kind of error."""

    type = serializers.CharField()
    code = serializers.CharField()
    status = serializers.IntegerField()
    title = serializers.CharField()
    meaning = serializers.CharField()
