"""The workbench: drafts of rules, tried on text and replayed on history before they go live."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from diagnosis.admin import trials
from diagnosis.admin.rows import RowForm
from diagnosis.admin.versions import ReasonForm, needs_taxonomist
from diagnosis.models import DraftState, Replay, ReplayState, TaxonomyDraft
from diagnosis.services import drafts, replays, site_drafts
from diagnosis.taxonomy.rows import TaxonomyError
from incidents.admin.base import ReadOnly, actor_of
from incidents.exceptions import RecordsError

#: Signatures that a search shows, and incidents that a replay's page does.
_FOUND, _SHOWN = 50, 200


class ReplayForm(forms.Form):
    """How far back."""

    days = forms.IntegerField(
        label="Days back", min_value=1, max_value=replays.MAX_DAYS, initial=30
    )


class PublishForm(ReasonForm):
    """The reason, and what was looked at."""

    revision = forms.IntegerField(widget=forms.HiddenInput)
    alarms_seen = forms.BooleanField(required=False)


@admin.register(TaxonomyDraft)
class WorkbenchAdmin(ReadOnly):
    """Drafts of the rules. Nothing here is judged by until it is published."""

    def get_urls(self) -> list[URLPattern]:
        own = [
            path("", self._view(self.home), name="diagnosis_taxonomydraft_changelist"),
            path("<int:pk>/", self._view(self.draft), name="taxonomy_draft"),
            path("<int:pk>/change/", self._view(self.draft)),
            path("signatures/new", self._view(self.edit), name="taxonomy_new"),
            path("signatures/<slug:code>", self._view(self.edit), name="taxonomy_edit"),
            path("try", self._view(require_POST(self.try_out)), name="taxonomy_try"),
            path("<int:pk>/undo", self._post(self.take_back), name="taxonomy_undo"),
            path("<int:pk>/undo-site", self._post(self.take_back_site), name="taxonomy_undo_site"),
            path("<int:pk>/publish", self._post(self.publish), name="taxonomy_publish"),
            path("<int:pk>/discard", self._post(self.discard), name="taxonomy_discard"),
            path("<int:pk>/replay", self._post(self.replay), name="taxonomy_replay_start"),
            path("replays/<int:pk>", self._view(self.replayed), name="taxonomy_replay"),
            path("replays/<int:pk>/state", self._view(self.progress), name="taxonomy_progress"),
            path("replays/<int:pk>/cancel", self._post(self.cancel), name="taxonomy_cancel"),
        ]
        return [*own, *super().get_urls()]

    def _view(self, view: Any) -> Any:
        """Only for those who edit the taxonomy."""

        def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponse:
            needs_taxonomist(request)
            answer: HttpResponse = view(request, **kwargs)
            return answer

        return self.admin_site.admin_view(guarded)

    def _post(self, view: Any) -> Any:
        """A change; what the service refuses is said on the page that asked for it."""

        def changing(request: HttpRequest, pk: int) -> HttpResponse:
            try:
                answer: HttpResponse = view(request, pk)
            except RecordsError as error:
                messages.error(request, str(error))
                return redirect(request.headers.get("referer") or self._home)
            return answer

        return self._view(require_POST(changing))

    _home = "admin:diagnosis_taxonomydraft_changelist"

    def home(self, request: HttpRequest) -> HttpResponse:
        """One's own draft, those of others, and the way to every signature."""
        mine = drafts.open_draft_of(request.user)  # type: ignore[arg-type]
        return self._show(request, mine, "Taxonomy workbench")

    def draft(self, request: HttpRequest, pk: int) -> HttpResponse:
        """A draft by its number, whoever's it is."""
        draft = get_object_or_404(TaxonomyDraft.objects.select_related("author"), pk=pk)
        return self._show(request, draft, str(draft))

    def _show(
        self,
        request: HttpRequest,
        draft: TaxonomyDraft | None,
        title: str,
        publishing: PublishForm | None = None,
    ) -> HttpResponse:
        words = request.GET.get("q", "").strip()
        others = TaxonomyDraft.objects.filter(state=DraftState.OPEN)
        others = others.exclude(changes={}, site_changes=[])
        if draft is not None:
            others = others.exclude(pk=draft.pk)
        context: dict[str, Any] = {
            "draft": draft,
            "words": words,
            "found": self._found(draft, words),
            "others": others.select_related("author"),
        }
        if draft is not None:
            last = draft.replays.first()
            context |= {
                "changes": _changes(draft),
                "conflicts": drafts.conflicts(draft) if draft.is_open else [],
                "site_rules": site_drafts.listed(draft),
                "site_conflicts": site_drafts.site_conflicts(draft) if draft.is_open else [],
                "replays": draft.replays.all()[:5],
                "last": last,
                "alarms": _alarms(last) if last and last.is_of_today else 0,
                "publish_form": publishing or PublishForm(initial={"revision": draft.revision}),
                "replay_form": ReplayForm(),
            }
        return self._page(request, "draft.html", title, context)

    def _found(self, draft: TaxonomyDraft | None, words: str) -> list[dict[str, Any]]:
        if not words:
            return []
        wanted = words.lower().split()
        changed = draft.changes if draft else {}
        rows = [
            {**row, "cls": row["class"], "drafted": row["code"] in changed}
            for row in drafts.rulebook_with(draft).signatures
            if all(
                word in f"{row['code']} {row['title']} {row['pattern']}".lower() for word in wanted
            )
        ]
        rows.sort(key=lambda row: -len({*wanted} & {*str(row["code"]).split("-")}))
        return rows[:_FOUND]

    def edit(self, request: HttpRequest, code: str = "") -> HttpResponse:
        """A signature beside a pane of text; saving puts it into one's own draft."""
        mine = drafts.open_draft_of(request.user)  # type: ignore[arg-type]
        book = drafts.rulebook_with(mine)
        row = next((one for one in book.signatures if one["code"] == code), None)
        if code and row is None:
            messages.error(request, f"There is no signature {code}.")
            return redirect(self._home)
        data = request.POST or None
        form = RowForm.of_row(row, data) if row else RowForm(data)
        if request.method == "POST" and self._saved(request, form, code, book.signatures):
            return redirect(self._home)
        context = {"form": form, "code": code, "draft": mine, "max_kib": 64}
        context["changed"] = bool(mine and code in mine.changes)
        return self._page(request, "editor.html", code or "A new signature", context)

    def _saved(self, request: HttpRequest, form: RowForm, code: str, rows: Any) -> bool:
        """Whether the form went into the draft; the form tells why where it did not."""
        removing = "remove" in request.POST
        if not removing and not form.is_valid():
            return False
        row = None if removing else form.row()
        wanted = code or str(row["code"] if row else "")
        if not code and any(one["code"] == wanted for one in rows):
            form.add_error("code", "This code is taken.")
            return False
        actor = actor_of(request)
        seen = request.POST.get("revision", "")
        try:
            draft = drafts.start(actor=actor, author=request.user)  # type: ignore[arg-type]
            drafts.put(
                actor=actor,
                draft=draft,
                code=wanted,
                row=row,
                expected_revision=int(seen) if seen.isdecimal() else None,
            )
        except (TaxonomyError, RecordsError) as error:
            form.add_error(None, str(error))
            return False
        messages.success(request, f"{wanted} is in the draft. Nothing is live until you publish.")
        return True

    def try_out(self, request: HttpRequest) -> HttpResponse:
        """The signature in the form against a text, as JSON."""
        mine = drafts.open_draft_of(request.user)  # type: ignore[arg-type]
        return JsonResponse(trials.answer(request.POST, mine))

    def take_back(self, request: HttpRequest, pk: int) -> HttpResponse:
        draft = get_object_or_404(TaxonomyDraft, pk=pk)
        drafts.take_back(actor=actor_of(request), draft=draft, code=request.POST.get("code", ""))
        return redirect("admin:taxonomy_draft", pk)

    def take_back_site(self, request: HttpRequest, pk: int) -> HttpResponse:
        draft, position = get_object_or_404(TaxonomyDraft, pk=pk), request.POST.get("position", "")
        site_drafts.take_back_site_rule(
            actor=actor_of(request),
            draft=draft,
            position=int(position) if position.isdecimal() else -1,
        )
        return redirect("admin:taxonomy_draft", pk)

    def discard(self, request: HttpRequest, pk: int) -> HttpResponse:
        drafts.discard(actor=actor_of(request), draft=get_object_or_404(TaxonomyDraft, pk=pk))
        messages.success(request, "The draft is discarded; the rules are as they were.")
        return redirect(self._home)

    def publish(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The draft goes live; alarms of its replay have to be owned up to."""
        draft = get_object_or_404(TaxonomyDraft, pk=pk)
        form = PublishForm(request.POST)
        last = draft.replays.first()
        if last and last.is_of_today and _alarms(last) and not request.POST.get("alarms_seen"):
            form.add_error(
                "alarms_seen", "Look at the replay's warnings first, and say that you have."
            )
        if not form.is_valid():
            return self._show(request, draft, str(draft), form)
        version = drafts.publish(
            actor=actor_of(request),
            draft=draft,
            why=form.cleaned_data["why"],
            revision=form.cleaned_data["revision"],
        )
        messages.success(request, "Published. The next diagnosis uses these rules.")
        return redirect("admin:diagnosis_taxonomyversion_change", version.pk)

    def replay(self, request: HttpRequest, pk: int) -> HttpResponse:
        draft = get_object_or_404(TaxonomyDraft, pk=pk)
        form = ReplayForm(request.POST)
        if not form.is_valid():
            messages.error(request, str(form.errors["days"][0]))
            return redirect("admin:taxonomy_draft", pk)
        replay = replays.request_replay(
            actor=actor_of(request), draft=draft, days=form.cleaned_data["days"]
        )
        return redirect("admin:taxonomy_replay", replay.pk)

    def replayed(self, request: HttpRequest, pk: int) -> HttpResponse:
        """A replay: how far it is, and every incident that would be judged differently."""
        replay = get_object_or_404(Replay.objects.select_related("draft"), pk=pk)
        return self._page(request, "replay.html", str(replay), _of_replay(replay))

    def progress(self, request: HttpRequest, pk: int) -> HttpResponse:
        """What changes on a replay's page while it runs."""
        replay = get_object_or_404(Replay.objects.select_related("draft"), pk=pk)
        where = "admin/diagnosis/taxonomydraft/_replay.html"
        return render(request, where, _of_replay(replay))

    def cancel(self, request: HttpRequest, pk: int) -> HttpResponse:
        replays.cancel(actor=actor_of(request), replay=get_object_or_404(Replay, pk=pk))
        return redirect("admin:taxonomy_replay", pk)

    def _page(
        self, request: HttpRequest, template: str, title: str, context: dict[str, Any]
    ) -> HttpResponse:
        shared = {**self.admin_site.each_context(request), "title": title, "opts": self.opts}
        return render(request, f"admin/diagnosis/taxonomydraft/{template}", {**shared, **context})


def _changes(draft: TaxonomyDraft) -> dict[str, Any]:
    """What the draft changes, by section."""
    signatures = {"signatures": drafts.changes_in(draft)} if draft.changes else {}
    return {**signatures, **site_drafts.site_changes_in(draft)}


def _alarms(replay: Replay) -> int:
    return replay.differences.exclude(alarm="").count()


def _of_replay(replay: Replay) -> dict[str, Any]:
    """What a replay's page shows: alarms first, then other isolations, then the rest."""
    differences = list(replay.differences.select_related("incident__cluster"))
    differences.sort(key=lambda one: (not one.alarm, not one.newly_isolated, -one.incident_id))
    judged = [one for one in differences if not one.error]
    return {
        "replay": replay,
        "running": replay.state in {ReplayState.QUEUED, ReplayState.RUNNING},
        "differences": judged[:_SHOWN],
        "count": len(judged),
        "broken": [one for one in differences if one.error],
        "alarms": [one for one in judged if one.alarm],
        "isolating": sum(1 for one in judged if one.newly_isolated and not one.alarm),
        "share": round(100 * replay.judged / replay.total) if replay.total else 0,
    }
