"""Notes and progress on stderr while a command runs."""

import logging

from nlgauge.cli.progress import progress_bar


def test_notes_of_the_library_are_shown_while_it_works(capsys):
    log = logging.getLogger("nlgauge.somewhere")
    with progress_bar(quiet=False) as tell:
        log.info("this takes a while")
    log.info("nobody listens")
    assert tell is None, "stderr is no terminal here"
    assert capsys.readouterr().err == "note: this takes a while\n"


def test_quiet_prints_no_note(capsys):
    with progress_bar(quiet=True) as tell:
        logging.getLogger("nlgauge.somewhere").info("this takes a while")
    assert tell is None
    assert capsys.readouterr().err == ""
