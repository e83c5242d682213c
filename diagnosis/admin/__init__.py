"""The knowledge in the admin site, and the workbench where people change it safely."""

from diagnosis.admin import knowledge, site_rules, versions, watch, workbench

__all__ = ["knowledge", "site_rules", "versions", "watch", "workbench"]
