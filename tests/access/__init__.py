"""Who may do what: every endpoint and page, by every role, in one's own and in another cluster."""
