"""What is known of a fault, for pages that only have its code."""

from collections.abc import Mapping
from typing import Any

from django import template

from diagnosis.models import FaultType

register = template.Library()


@register.simple_tag
def faults_by_code() -> Mapping[str, FaultType]:
    """Every fault type by its code, in one query: there are some dozens."""
    return {fault.code: fault for fault in FaultType.objects.all()}


@register.filter
def known(faults: Mapping[str, FaultType] | Any, code: str) -> FaultType | None:
    """The fault type with this code; None where it was renamed or removed since."""
    return faults.get(code) if isinstance(faults, Mapping) else None
