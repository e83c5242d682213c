"""System checks."""

from pathlib import Path

from incidents.checks import evidence_store_is_writable


def test_a_store_that_can_be_made_passes(settings, tmp_path: Path):
    settings.EVIDENCE_DIR = tmp_path / "not" / "yet"
    assert evidence_store_is_writable(None) == []


def test_a_store_below_a_file_is_an_error_with_a_hint(settings, tmp_path: Path):
    blocking = tmp_path / "file"
    blocking.touch()
    settings.EVIDENCE_DIR = blocking / "evidence"
    (error,) = evidence_store_is_writable(None)
    assert error.id == "incidents.E001"
    assert "AEGIS_DATA_DIR" in str(error.hint)
