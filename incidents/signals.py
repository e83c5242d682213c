"""The one signal by which the records ask for a diagnosis."""

from django.dispatch import Signal

#: Sent after commit with `diagnosis_id` when a queued run wants a worker.
diagnosis_wanted = Signal()
