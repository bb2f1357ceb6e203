"""Sentences of a text, found by NLTK's Punkt."""

from nlgauge.core.errors import MissingExtra, ModelError


def punkt_sentences(text: str) -> list[str]:
    """Return the English sentences of a text, as ``nltk.sent_tokenize`` finds them."""
    try:
        import nltk
    except ImportError:
        raise MissingExtra("splitting texts into sentences", "nltk", "sentences") from None
    try:
        return list(nltk.sent_tokenize(text))
    except LookupError:
        raise ModelError(
            "splitting texts into sentences needs the data of NLTK's Punkt, which are not "
            "installed; install them with: python -m nltk.downloader punkt_tab (or set NLTK_DATA "
            "to a folder that has them), or separate sentences by newlines"
        ) from None
