"""The taxonomy: a checked set of signatures with a version that names it."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from importlib import resources

import orjson
import yaml

from diagnosis.taxonomy.matcher import Matcher
from diagnosis.taxonomy.rows import TaxonomyError, signature_from_row
from diagnosis.taxonomy.signature import Signature
from diagnosis.taxonomy.suppression import SuppressionRules

#: libyaml's safe loader where the wheel brings it: ten times quicker, the same answers.
_SAFE_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

__all__ = ["Taxonomy", "TaxonomyError"]

#: Fields that change no verdict and therefore no version.
_NOT_VERSIONED = ("examples", "explanation", "source", "escalation_idea")


@dataclass(frozen=True)
class Taxonomy:
    """The enabled signatures, in order of their codes."""

    signatures: tuple[Signature, ...]

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, object]]) -> "Taxonomy":
        """A taxonomy from rows with the fields of docs/contract.md; disabled rows are left out.

        Raises `TaxonomyError` naming the row (counted from 1) and the reason. Disabled rows are
        checked too, so that switching one on cannot break a worker.
        """
        found: dict[str, tuple[int, Signature]] = {}
        for number, row in enumerate(rows, start=1):
            signature = signature_from_row(row, f"row {number}")
            if signature.code in found:
                first = found[signature.code][0]
                raise TaxonomyError(
                    f"row {number} ({signature.code}): the code is taken by row {first}"
                )
            found[signature.code] = (number, signature)
        enabled = (signature for _, signature in found.values() if signature.enabled)
        return cls(tuple(sorted(enabled, key=lambda signature: signature.code)))

    @classmethod
    def from_yaml(cls, text: str | bytes) -> "Taxonomy":
        """A taxonomy from YAML: `signatures:` with a list of rows. Raises `TaxonomyError`."""
        try:
            document = yaml.load(text, Loader=_SAFE_LOADER)  # noqa: S506 - a safe loader
        except yaml.YAMLError as error:
            raise TaxonomyError(f"not YAML: {error}") from error
        rows = document.get("signatures") if isinstance(document, dict) else None
        if not isinstance(rows, list):
            raise TaxonomyError("the file must hold 'signatures:' with a list")
        return cls.from_rows(rows)

    @classmethod
    def default(cls) -> "Taxonomy":
        """The shipped taxonomy."""
        return _shipped()

    def __len__(self) -> int:
        return len(self.signatures)

    @cached_property
    def by_code(self) -> Mapping[str, Signature]:
        return {signature.code: signature for signature in self.signatures}

    @cached_property
    def version(self) -> str:
        """A hash of the rules: equal for equal rules in any order, another for any other rules."""
        rules = [
            {key: value for key, value in asdict(signature).items() if key not in _NOT_VERSIONED}
            for signature in self.signatures
        ]
        canonical = orjson.dumps(rules, option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(canonical).hexdigest()[:16]

    @cached_property
    def matcher(self) -> Matcher:
        return Matcher(self.signatures)

    def matcher_with(self, patterns: Sequence[str], *, native: bool = False) -> Matcher:
        """The matcher whose `hits` also name the lines of `patterns`; kept once built."""
        wanted = (tuple(patterns), native)
        if wanted not in self._extended:
            self._extended[wanted] = Matcher(self.signatures, wanted[0], native=native)
        return self._extended[wanted]

    @cached_property
    def _extended(self) -> dict[tuple[tuple[str, ...], bool], Matcher]:
        return {}


def rules_version(taxonomy: Taxonomy, suppression: SuppressionRules) -> str:
    """A hash of all the rules that a diagnosis goes by: the taxonomy's own where nothing else is.

    Reasons are part of it, because the trace repeats them.
    """
    if not suppression:
        return taxonomy.version
    rules = {
        "taxonomy": taxonomy.version,
        "ignore": sorted((asdict(rule) for rule in suppression.ignore), key=str),
        "maintenance": sorted((asdict(window) for window in suppression.maintenance), key=str),
    }
    canonical = orjson.dumps(rules, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()[:16]


@cache
def _shipped() -> Taxonomy:
    shipped = resources.files("diagnosis.taxonomy").joinpath("default.yaml")
    return Taxonomy.from_yaml(shipped.read_bytes())
