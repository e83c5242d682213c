"""The admin site of the records: looking things up, and what operators keep in order by hand.

What people do with incidents goes through the services, from the pages and the API; here those
records are read-only.
"""

from incidents.admin import access, connectors, inbox, jobs, records, webhooks

__all__ = ["access", "connectors", "inbox", "jobs", "records", "webhooks"]
