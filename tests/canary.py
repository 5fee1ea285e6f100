"""A secret that can be found again: what the tests of secrets write into configurations, and every form in which it may come out."""
import base64, json, re, urllib.parse
from xml.sax.saxutils import escape

# With what JSON, XML, URLs and base64 write in their own ways, and without what a language's own quoting would change.
CANARY = "Kanarien/vogel+7319&Ä"


def _base64_core(data):
    """The digits that are the same wherever in a longer text the data begins and whatever follows."""
    for before in range(3):
        digits = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        first = (before * 8 + 5) // 6
        last = (before + len(data)) * 8 // 6
        yield digits[first:last]


def forms(word=CANARY):
    data = word.encode()
    found = {data, data.hex().encode(), data.hex().upper().encode(), escape(word).encode()}
    for core in _base64_core(data):
        found |= {core.encode(), core.replace("+", "-").replace("/", "_").encode()}
    for safe in ("", "/", "/+&"):
        quoted = urllib.parse.quote(word, safe=safe)
        found |= {quoted.encode(), re.sub("%..", lambda m: m[0].lower(), quoted).encode()}
    for text in (json.dumps(word), json.dumps(word).replace("/", "\\/"), json.dumps(word, ensure_ascii=False).replace("&", "\\u0026")):
        found |= {text[1:-1].encode(), text[1:-1].replace("\\u00c4", "\\u00C4").encode()}
    # Of a text that was cut, its middle.
    return found | {b"vogel+7319", b"vogel%2B7319", b"vogel%2b7319"}


_FORMS = forms()


def holds(data):
    """Whether the canary is in it, in any form."""
    if isinstance(data, str):
        data = data.encode(errors="surrogateescape")
    return any(f in data for f in _FORMS)
