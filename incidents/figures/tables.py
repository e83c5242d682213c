"""A report as rows of plain values: what CSV, REST and pictures are written from."""

from collections.abc import Mapping

from incidents.figures.incidents import Figures
from incidents.figures.judging import Precision
from incidents.figures.report import FaultRow, Step

Value = str | int | float | None
Row = Mapping[str, Value]


def step_row(step: Step) -> Row:
    """One step; its period by days in UTC, `until` not included."""
    return {
        "since": step.period.since.date().isoformat(),
        "until": step.period.until.date().isoformat(),
        **_figures(step.figures),
        "restarts": step.restarts,
        "hosts_held": step.held,
        "degradation": _rounded(step.degradation, 4),
    }


def fault_row(row: FaultRow) -> Row:
    """One fault; an empty code is that of incidents whose answer names none."""
    return {"fault": row.fault, **_figures(row.figures)}


def precision_row(kind: str, code: str, precision: Precision) -> Row:
    """One rule and how often it was right."""
    return {"kind": kind, "code": code, **_precision(precision)}


def _figures(figures: Figures) -> Row:
    return {
        "incidents": figures.incidents,
        "diagnosis_seconds_median": _rounded(figures.diagnosis_s, 1),
        "diagnosis_hours": _rounded(figures.diagnosis_hours, 2),
        "located_share": _rounded(figures.located, 4),
        **_precision(figures.precision),
        "top1": _rounded(figures.top1, 4),
        "top3": _rounded(figures.top3, 4),
        "detect_seconds_median": _rounded(figures.detect_s, 1),
        "acknowledge_seconds_median": _rounded(figures.acknowledge_s, 1),
        "resolve_seconds_median": _rounded(figures.resolve_s, 1),
        "gpu_hours_lost": _rounded(figures.gpu_hours, 1),
    }


def _precision(precision: Precision) -> Row:
    return {
        "precision": _rounded(precision.share, 4),
        "precision_at_least": _rounded(precision.at_least, 4),
        "right": precision.right,
        "decided": precision.decided,
        "confirmed": precision.confirmed,
    }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
