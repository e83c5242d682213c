"""Reports: whether it works, over time, by fault and by rule."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

import orjson
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from incidents import selectors
from incidents.figures.report import Report, change
from incidents.figures.tables import Row, fault_row, precision_row, step_row
from incidents.forms import ReportForm
from incidents.views.requests import PageRequest

#: Faults and rules that a page lists; the rest is in the download.
_FAULTS, _RULES = 20, 40


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure large: what it is now, and by how much it changed (0.5 for half more)."""

    label: str
    help: str
    value: float | None
    unit: str
    change: float | None
    falling_is_good: bool = True
    note: str = ""

    @property
    def mood(self) -> str:
        """Whether the change is good news; empty where it hardly is any."""
        if self.change is None or abs(self.change) < 0.02:
            return ""
        return "good" if (self.change < 0) == self.falling_is_good else "bad"


@require_safe
def reports(request: PageRequest) -> HttpResponse:
    """The page; a period that makes no sense is told, and the usual one shown."""
    form = ReportForm.of(request.GET)
    refused = not form.is_valid()
    asked = ReportForm({}) if refused else form
    asked.is_valid()
    period, scope = asked.period(), asked.scope()
    found = selectors.report(scope, period, now=timezone.now())
    context = {
        "form": form,
        "period": period,
        "last_day": asked.last_day(),
        "scope": scope,
        "tiles": tiles_of(found),
        "steps": found.steps,
        "faults": found.faults[:_FAULTS],
        "rules": selectors.rule_records(scope, period)[:_RULES],
        "data": orjson.dumps(_drawn(found)).decode(),
        "clusters": selectors.clusters(),
        "owners": selectors.owners(),
        "known_faults": selectors.known_faults(),
        "query": request.GET.urlencode(),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refused else HTTPStatus.OK
    return render(request, "incidents/reports.html", context, status=status)


@require_safe
def download(request: PageRequest, table: str) -> HttpResponse:
    """One of the report's tables as CSV."""
    form = ReportForm.of(request.GET)
    if not form.is_valid():
        text = " ".join(str(error) for errors in form.errors.values() for error in errors)
        return HttpResponse(text, status=HTTPStatus.UNPROCESSABLE_ENTITY, content_type="text/plain")
    rows = _rows(table, form)
    period = form.period()
    name = f"aegis-{table}-{period.since:%Y-%m-%d}-{form.last_day():%Y-%m-%d}.csv"
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    if rows:
        writer = csv.DictWriter(response, list(rows[0]))
        writer.writeheader()
        writer.writerows(_harmless(row) for row in rows)
    return response


def _rows(table: str, form: ReportForm) -> Sequence[Row]:
    scope, period = form.scope(), form.period()
    if table == "rules":
        records = selectors.rule_records(scope, period)
        return [precision_row(one.kind, one.code, one.precision) for one in records]
    found = selectors.report(scope, period, now=timezone.now())
    if table == "over-time":
        return [step_row(step) for step in found.steps]
    if table == "faults":
        return [fault_row(row) for row in found.faults]
    raise Http404(f"There is no table called {table}.")


def _harmless(row: Row) -> Mapping[str, object]:
    """Text that a spreadsheet would take for a formula is kept from it (CWE-1236)."""
    return {
        name: f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "@")) else value
        for name, value in row.items()
    }


def tiles_of(report: Report) -> Sequence[Tile]:
    """The paper's figures, each beside the time before."""
    now, before = report.total, report.before
    one, two = now.figures, before.figures
    found = one.precision
    decided = f"in {found.decided:,} decided incident{'' if found.decided == 1 else 's'}"
    return [
        Tile("Lost to diagnosis", "lost", one.diagnosis_s, "span",
             change(one.diagnosis_s, two.diagnosis_s), note="median an incident"),
        Tile("Localised at run time", "located", one.located, "share",
             change(one.located, two.located), falling_is_good=False,
             note=f"of {one.incidents:,} incidents"),
        Tile("First suspect right", "top", one.top1, "share", change(one.top1, two.top1),
             falling_is_good=False, note=decided),
        Tile("Restarts", "restarts", now.restarts, "count", change(now.restarts, before.restarts)),
        Tile("Accumulated degradation", "degradation", now.degradation, "share",
             change(now.degradation, before.degradation), note="of the time of watched jobs"),
        Tile("Held before delivery", "held", now.held, "count", None, note="hosts"),
        Tile("Lost", "gpu-hours", one.gpu_hours, "gpu-hours",
             change(one.gpu_hours, two.gpu_hours), note="GPU-hours"),
    ]  # fmt: skip


def _drawn(report: Report) -> Mapping[str, object]:
    """What the pictures draw: a value a step."""
    steps, figures = report.steps, [step.figures for step in report.steps]
    return {
        "time": [int(step.period.since.timestamp()) for step in steps],
        "lost": [one.diagnosis_s for one in figures],
        "incidents": [one.incidents for one in figures],
        "located": [one.located for one in figures],
        "top1": [one.top1 for one in figures],
        "top3": [one.top3 for one in figures],
        "restarts": [step.restarts for step in steps],
        "held": [step.held for step in steps],
        "degradation": [step.degradation for step in steps],
    }
