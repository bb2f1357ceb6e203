"""nlgauge submission: score files for the WMT metrics task."""

from pathlib import Path

from nlgauge.cli.arguments import option
from nlgauge.cli.option_groups import InputOptions, RuntimeOptions, with_option_groups
from nlgauge.cli.output import print_notes
from nlgauge.core.errors import UsageError


@with_option_groups
def submission_command(
    options: RuntimeOptions,
    texts: InputOptions,
    language_pair: str = option(..., "Language pair, such as en-de.", metavar="PAIR"),
    test_set: str = option(..., "Name of the test set, such as generaltest2024.", metavar="NAME"),
    reference_name: str = option("refA", "Name of the reference.", metavar="NAME"),
    documents: str | None = option(
        None, "Domain and document of every segment, one pair per line.", metavar="FILE"
    ),
    folder: Path = option(..., "Folder for the files METRIC.seg.score and METRIC.sys.score.", "-o"),
) -> None:
    """Write score files in the format of the WMT metrics task.

    Example:

    nlgauge submission -c outputs/en-de/*.txt -r refA.txt -m chrf --language-pair en-de
    --test-set generaltest2024 -o submission/

    Two TSV files without a header are written per metric: METRIC.seg.score and METRIC.sys.score.
    Distances are negated, so that higher is better. The score of a system is the corpus score.
    """
    from nlgauge.data.mt_metrics_eval import read_documents
    from nlgauge.data.submissions import file_name, submission_rows, write_submission
    from nlgauge.scoring import Scorer

    corpus = texts.read()
    counts = {len(corpus.rows_of(system)) for system in corpus.system_names}
    if len(counts) > 1:
        raise UsageError(f"the systems have different numbers of segments: {sorted(counts)}")
    named = None if documents is None else read_documents(documents, counts.pop())
    scorer = Scorer(texts.metrics, runtime=options.runtime)
    with options.running() as running:
        scored = scorer.score_corpus(corpus, progress=running["progress"])
    folder.mkdir(parents=True, exist_ok=True)
    for label, metric in scorer.metrics.items():
        names = {"metric": file_name(label), "pair": language_pair, "test_set": test_set}
        names["reference"] = reference_name if metric.needs_references else "src"
        segments, systems = [], []
        for system, by_metric in scored.items():
            sign = by_metric[label].scale.sign
            scores = (sign * by_metric[label].segments).tolist()
            rows, whole = submission_rows(
                names, system, scores, sign * by_metric[label].value, named
            )
            segments += rows
            systems.append(whole)
        for ending, lines in ((".seg.score", segments), (".sys.score", systems)):
            path = folder / f"{names['metric']}{ending}"
            write_submission(path, lines)
            print_notes(
                [f"wrote {path} ({len(lines):,} line{'s' * (len(lines) != 1)})."],
                quiet=options.quiet,
            )
