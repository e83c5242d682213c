"""How Django writes dates and times where the pages do not: 24 hours, and the zone named."""

DATE_FORMAT = SHORT_DATE_FORMAT = "Y-m-d"
TIME_FORMAT = r"H:i:s \U\T\C"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = r"Y-m-d H:i:s \U\T\C"
DATE_INPUT_FORMATS = ["%Y-%m-%d"]
TIME_INPUT_FORMATS = ["%H:%M:%S", "%H:%M"]
