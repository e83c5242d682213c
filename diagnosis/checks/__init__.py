"""Check before delivery: suites as data, what the tools' outputs say, and a verdict per host."""
