"""The figures that say whether it works: pure computations on what the records hold."""
