"""Time stamps as the programs print them, from nanoseconds since the epoch (hosts run on UTC)."""

from datetime import UTC, datetime

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def _moment(ns: int) -> datetime:
    return datetime.fromtimestamp(ns // 10**9, UTC)


def glog(ns: int) -> str:
    """c10's own stamp: month without a leading zero, nanoseconds (`302 12:10:03.514781669`)."""
    now = _moment(ns)
    return f"{now.month}{now.day:02} {now:%H:%M:%S}.{ns % 10**9:09}"


def torch_python(ns: int) -> str:
    """`torch._logging`: `0302 12:10:03.514000`."""
    return f"{_moment(ns):%m%d %H:%M:%S}.{ns % 10**9 // 10**6:03}000"


def plain(ns: int) -> str:
    return f"{_moment(ns):%Y-%m-%d %H:%M:%S}"


def elastic(ns: int) -> str:
    return f"{_moment(ns):%Y-%m-%d_%H:%M:%S}"


def ctime(ns: int) -> str:
    """As `dmesg -T` prints it: `Mon Mar  2 12:10:03 2026`."""
    now = _moment(ns)
    return f"{_DAYS[now.weekday()]} {_MONTHS[now.month - 1]} {now.day:2} {now:%H:%M:%S %Y}"


def syslog(ns: int) -> str:
    """As journalctl prints it: `Mar 02 12:10:03`."""
    now = _moment(ns)
    return f"{_MONTHS[now.month - 1]} {now.day:02} {now:%H:%M:%S}"
