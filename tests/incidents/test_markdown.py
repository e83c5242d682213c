"""Notes in Markdown, made safe."""

import pytest

from incidents.markdown import safe_html


def test_people_write_lists_code_and_links():
    html = safe_html("- **hot** rack, `nvidia-smi`\n- see https://wiki.example/rack-7")
    assert "<li><strong>hot</strong> rack, <code>nvidia-smi</code></li>" in html
    assert 'href="https://wiki.example/rack-7"' in html
    assert 'rel="noopener noreferrer nofollow"' in html


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        '<a href="data:text/html,x">x</a>',
        "![x](https://elsewhere.example/pixel.png)",
        '<p style="position:fixed">x</p>',
    ],
)
def test_nothing_in_a_note_runs_or_asks_another_host(hostile: str):
    html = safe_html(hostile)
    for part in ("<script", "<img", '<a href="javascript', '<a href="data', "<p style"):
        assert part not in html


def test_a_line_break_is_one():
    assert "<br" in safe_html("first\nsecond")
