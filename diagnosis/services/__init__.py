"""Where the engine meets the records: evidence in, answers back, knowledge from the database."""
