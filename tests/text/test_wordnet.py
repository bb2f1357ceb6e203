"""WordNet synsets, base forms and folders."""

import pytest

from nlgauge.core.errors import FileError
from nlgauge.text.wordnet import FOLDER_VARIABLE, find_wordnet

INDEX = """\
  1 This software is WordNet 9.9 Copyright
car n 2 1 @ 2 1 00000001 00000002
automobile n 1 1 @ 1 0 00000001
mouse n 1 0 1 0 00000003
"""


@pytest.fixture
def folder(tmp_path):
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"index.{part}").write_text(INDEX if part == "noun" else "", "utf-8")
        (tmp_path / f"{part}.exc").write_text("mice mouse\n" if part == "noun" else "", "utf-8")
    return tmp_path


def test_words_share_synsets_through_base_forms_and_exceptions(folder):
    wordnet = find_wordnet(str(folder))
    assert wordnet.version == "9.9"
    assert wordnet.synsets("car") == {"noun:00000001", "noun:00000002"}
    assert wordnet.synsets("automobiles") & wordnet.synsets("cars")
    assert wordnet.synsets("mice") == wordnet.synsets("mouse") != frozenset()
    assert wordnet.synsets("zzz") == frozenset()


def test_lemma_names_keep_their_case_and_leave_phrases_out(folder):
    lines = "  1 licence\r\n00000001 06 n 03 car 0 motor_car 0 Auto(p) 0 000 | a | b\r\n"
    for part in ("noun", "verb", "adj", "adv"):
        (folder / f"data.{part}").write_text(lines if part == "noun" else "", "utf-8")
    wordnet = find_wordnet(str(folder))
    assert wordnet.lemma_names("automobiles") == {"car", "Auto"}
    assert wordnet.lemma_names("zzz") == frozenset()


def test_lemma_names_need_the_data_files(folder):
    with pytest.raises(FileError, match=r"data\.noun is missing.*synonyms=none"):
        find_wordnet(str(folder)).lemma_names("car")


def test_the_option_takes_precedence_over_the_environment(folder, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    assert find_wordnet().folder == folder
    assert find_wordnet("none") is None


def test_missing_files_of_a_folder_are_named(tmp_path):
    with pytest.raises(FileError, match=r"8 of 8 files are missing.*index\.noun"):
        find_wordnet(str(tmp_path))


def test_without_wordnet_the_result_is_none(monkeypatch, tmp_path):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr("nlgauge.text.wordnet._package_folder", lambda: None)
    monkeypatch.setattr("nlgauge.text.wordnet.DEBIAN_FOLDER", tmp_path)
    assert find_wordnet() is None


def test_the_real_wordnet():
    wordnet = find_wordnet()
    if wordnet is None:
        pytest.skip("no WordNet installed (extra 'meteor')")
    assert wordnet.synsets("cars") & wordnet.synsets("automobile")
    assert wordnet.synsets("bought") & wordnet.synsets("purchases")
    assert not wordnet.synsets("car") & wordnet.synsets("banana")
