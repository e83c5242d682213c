"""Addresses that Aegis is told to send to."""

from django.conf import settings
from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.delivery.address import sendable_url
from incidents.exceptions import DestinationRefused


class DestinationSerializer(RequestSerializer):
    """Whose `url` must be one that the address guard lets through."""

    def validate_url(self, value: str) -> str:
        try:
            return sendable_url(value, allowed=settings.WEBHOOK_NETWORKS)
        except DestinationRefused as error:
            raise serializers.ValidationError(str(error)) from error
