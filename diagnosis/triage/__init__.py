"""Log triage, phase 1: from log lines to the part, the code or the setting that broke the job."""
