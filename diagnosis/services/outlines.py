"""The outline of an answer, and what differs between two answers about one incident."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diagnosis.core.diagnosis import Diagnosis, Recommendation, Suspect
from diagnosis.core.target import Target, normalise_host
from diagnosis.core.words import Action, Role, VerdictClass
from incidents.choices import Resolution

Outline = dict[str, object]

#: Suspects that an outline tells.
_SUSPECTS = 5
#: From this difference on a suspect's score counts as changed.
_SCORE_STEP = 0.05
_HARMLESS = {
    VerdictClass.HEALTHY: "is healthy by today's rules",
    VerdictClass.USER: "is the user's code by today's rules",
}
_SETTLED = {
    Resolution.FALSE_ALARM: "was settled as a false alarm",
    Resolution.USER_CODE: "was settled as the user's code",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """What changes between two outlines. `changed` names verdict, suspects, isolation, advice."""

    changed: Sequence[str]
    newly_isolated: Sequence[str]

    def __bool__(self) -> bool:
        return bool(self.changed)


def outline(answer: Diagnosis) -> Outline:
    """As much of an answer as a person compares, as plain JSON data."""
    return {
        "class": answer.verdict.cls.value,
        "kind": answer.verdict.kind.value,
        "summary": answer.verdict.summary,
        "confidence": round(answer.verdict.confidence, 2),
        "suspects": [_suspect(one) for one in answer.suspects if one.role is not Role.VICTIM][
            :_SUSPECTS
        ],
        "isolated": isolated_hosts(answer.recommendations),
        "advice": sorted(
            {
                f"{item.action} {label(item.target)}".strip()
                for item in answer.recommendations
                if item.action not in {Action.NONE, Action.ISOLATE_HOST}
            }
        ),
        "suppressed": [line for line in answer.trace if line.startswith("suppressed: ")][:10],
    }


def isolated_hosts(recommendations: Sequence[Recommendation]) -> list[str]:
    """Hosts that are recommended for isolation, in order of their names."""
    found = {
        normalise_host(item.target.host or item.target.name or ""): label(item.target)
        for item in recommendations
        if item.action is Action.ISOLATE_HOST
    }
    return [found[name] for name in sorted(found)]


def label(target: Target) -> str:
    """A target in a few words."""
    parts = [target.host or target.name or target.kind.value]
    if target.gpu is not None:
        parts.append(f"GPU {target.gpu}")
    if target.rank is not None and not str(target.name).startswith("rank"):
        parts.append(f"rank {target.rank}")
    return " ".join(parts)


def _suspect(suspect: Suspect) -> Mapping[str, object]:
    return {
        "label": label(suspect.target),
        "role": suspect.role.value,
        "score": round(suspect.score, 2),
        "fault": suspect.fault or "",
    }


def difference(before: Outline, after: Outline) -> Difference:
    """What the second outline says differently; words alone don't count."""
    changed = []
    if (before["class"], before["kind"]) != (after["class"], after["kind"]):
        changed.append("verdict")
    if _told(before) != _told(after) or _moved(before, after):
        changed.append("suspects")
    if before["isolated"] != after["isolated"]:
        changed.append("isolation")
    if before["advice"] != after["advice"]:
        changed.append("advice")
    was = {normalise_host(host) for host in _texts(before, "isolated")}
    newly = [host for host in _texts(after, "isolated") if normalise_host(host) not in was]
    return Difference(changed, newly)


def alarm(before: Outline, found: Difference, resolution: str) -> str:
    """The loud warning: hosts would be isolated in an incident that is no fault of theirs."""
    if not found.newly_isolated:
        return ""
    why = _SETTLED.get(Resolution(resolution)) if resolution else None
    why = why or _HARMLESS.get(VerdictClass(str(before["class"])))
    hosts = ", ".join(found.newly_isolated[:5])
    return f"{why}, and {hosts} would be isolated" if why else ""


def _texts(outlined: Outline, name: str) -> Sequence[str]:
    value = outlined[name]
    return [str(one) for one in value] if isinstance(value, list) else []


def _suspects(outlined: Outline) -> Sequence[Mapping[str, object]]:
    value = outlined["suspects"]
    return value if isinstance(value, list) else []


def _told(outlined: Outline) -> list[tuple[object, ...]]:
    return [(one["label"], one["role"], one["fault"]) for one in _suspects(outlined)]


def _moved(before: Outline, after: Outline) -> bool:
    pairs = zip(_suspects(before), _suspects(after), strict=False)
    return any(abs(_score(one) - _score(other)) >= _SCORE_STEP for one, other in pairs)


def _score(suspect: Mapping[str, object]) -> float:
    value = suspect["score"]
    return float(value) if isinstance(value, int | float) else 0.0
