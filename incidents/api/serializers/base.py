"""What every serializer of a request has in common."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class RequestSerializer(serializers.Serializer[Any]):
    """Refuses fields that it does not know: a misspelt name must not be lost silently."""

    def to_internal_value(self, data: Any) -> Any:
        """The checked values. Raises `ValidationError` by field."""
        if isinstance(data, Mapping):
            unknown = [str(name) for name in data if name not in self.fields]
            if unknown:
                known = ", ".join(self.fields)
                message = f"There is no such field here. Known fields: {known}."
                raise serializers.ValidationError({name: [message] for name in unknown})
        return super().to_internal_value(data)
