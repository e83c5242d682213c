"""Fields that several serializers share."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from incidents.choices import VerdictClass
from incidents.hostnames import what_is_wrong


class InstantField(serializers.DateTimeField):
    """An instant, RFC 3339: shown in UTC, taken only with its offset from UTC."""

    default_error_messages = {"naive": "Say the offset from UTC: 2026-11-30T16:00:00Z."}

    def enforce_timezone(self, value: datetime) -> datetime:
        """Refuses a time that could be anywhere."""
        if value.tzinfo is None:
            self.fail("naive")
        return super().enforce_timezone(value)


class PlausibleInstantField(InstantField):
    """An instant at which training jobs could break: from 2000 to a day ahead of now."""

    default_error_messages = {
        "implausible": "Give a time from the year 2000 on, at most a day ahead of now."
    }

    def to_internal_value(self, value: Any) -> datetime:
        """The instant; a wrong clock or a typing error is refused."""
        at = super().to_internal_value(value)
        if at.year < 2000 or at > timezone.now() + timedelta(days=1):
            self.fail("implausible")
        return at


#: The contract's classes; empty while none is known.
CAUSES = [("", "not known yet"), *VerdictClass.choices]


@extend_schema_field({"oneOf": [{"type": "integer"}, {"type": "string"}]})
class GpuField(serializers.Field):  # type: ignore[type-arg]
    """A GPU by its index, UUID or PCI address."""

    default_error_messages = {"invalid": "Give the GPU's index, UUID or PCI address."}

    def to_internal_value(self, data: Any) -> str | int:
        whole = isinstance(data, int) and not isinstance(data, bool) and data >= 0
        text = isinstance(data, str) and 0 < len(data.strip()) <= 100 and "\x00" not in data
        if not whole and not text:
            self.fail("invalid")
        return data  # type: ignore[no-any-return]

    def to_representation(self, value: Any) -> str | int | None:
        if value in {"", None}:
            return None
        return int(value) if str(value).isdecimal() else str(value)


class HostNameField(serializers.CharField):
    """The name of one host; what cannot be one is refused with what to do."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": 255, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        """The name, without spaces around it."""
        name = super().to_internal_value(data)
        if wrong := what_is_wrong(name):
            raise serializers.ValidationError(wrong)
        return name


class WithClass(serializers.Serializer[Any]):
    """Adds `class`, the contract's word for the cause, which Python does not take as a name."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """The declared fields, the second place given to `class`; empty while none is known."""
        cause = serializers.ChoiceField(choices=CAUSES, source="verdict_class")
        (first, field), *rest = super().get_fields().items()
        return {first: field, "class": cause, **dict(rest)}


class NamedField(serializers.SlugRelatedField[Any]):
    """A record by its name. No name holds a NUL character, which PostgreSQL refuses to look for."""

    def to_internal_value(self, data: Any) -> Any:
        """The record. Raises `ValidationError` where none has this name."""
        if "\x00" in str(data):
            self.fail("does_not_exist", slug_name=self.slug_field, value=data)
        return super().to_internal_value(data)
