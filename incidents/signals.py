"""The signals by which the records ask for work that is done elsewhere, after commit."""

from django.dispatch import Signal

#: Sent after commit with `diagnosis_id` when a queued run wants a worker.
diagnosis_wanted = Signal()

#: Sent after commit with `inbox_id` when a message waits there.
message_came = Signal()

#: Sent after commit with `subscription_ids` when messages wait for these endpoints.
delivery_wanted = Signal()

#: Sent after commit with `execution_id` when someone asked for a planned command to be run.
execution_wanted = Signal()
