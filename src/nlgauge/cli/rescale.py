"""nlgauge rescale: the baseline that rescales a metric."""

from pathlib import Path

from nlgauge.cli.arguments import (
    argument,
    command_group,
    decimals_option,
    metric_option,
    option,
    seed_option,
)
from nlgauge.cli.option_groups import RuntimeOptions, with_option_groups
from nlgauge.cli.output import check_ending, print_notes, write_text

app = command_group("rescale", "Fit the baseline that rescales a metric.")


@app.command("fit")
@with_option_groups
def fit_command(
    options: RuntimeOptions,
    texts: str = argument(..., "TEXTS", "Unrelated texts of one language; - reads stdin."),
    metric: str = metric_option("bertscore", "Metric to rescale."),
    pairs: int = option(10_000, "Maximum number of random pairs.", min=3),
    seed: int = seed_option("the pairs"),
    output: Path | None = option(None, "Baseline file to write (.json).", "-o", "--output"),
    digits: int = decimals_option(4),
) -> None:
    """Fit the score of unrelated texts, which rescaling maps to 0.

    Examples:

    nlgauge rescale fit news.txt -m bertscore -o baseline.json

    nlgauge rescale fit judged.jsonl -m bertscore:model=my/model,layer=9 --pairs 50000 -o base.json

    nlgauge score -c out.txt -r ref.txt -m bertscore:baseline=baseline.json

    TEXTS is a text file with a sentence per line, or a table with the column `text` or `references`
    (the first reference is used). Sentences are paired at random, never with an equal sentence. The
    baseline is valid for this model and layer only.
    """
    from nlgauge.data.files import read_texts
    from nlgauge.report.formats import text
    from nlgauge.report.table import Column, Table
    from nlgauge.study import fit_baseline

    if output is not None:
        check_ending(output, [".json"])
    sentences = read_texts(texts)
    with options.running() as running:
        result = fit_baseline(sentences, metric, pairs=pairs, seed=seed, **running)
    if output is not None:
        write_text(result.to_json(), output)
    settings = ", ".join(f"{name}={value}" for name, value in result.settings.items())
    columns = Column(result.metric), Column("baseline", digits), Column("standard error", digits)
    rows = tuple((name, mean, result.standard_error[name]) for name, mean in result.mean.items())
    footer = (
        f"{result.pairs:,} pairs of {result.texts:,} texts; seed {result.seed}",
        f"model {result.model} ({result.model_sha}), {settings}",
    )
    print(text(Table(columns, rows, footer)))
    print_notes(result.notes, quiet=options.quiet)
