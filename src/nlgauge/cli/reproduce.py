"""nlgauge reproduce: recompute the tables of a paper and compare them with the published ones."""

from pathlib import Path

from nlgauge.cli.arguments import argument, option
from nlgauge.cli.option_groups import RuntimeOptions, with_option_groups
from nlgauge.cli.output import print_notes
from nlgauge.core.errors import UsageError
from nlgauge.core.printable import printable

LARGER_MODEL = "mpnet"


@with_option_groups
def reproduce_command(
    options: RuntimeOptions,
    recipe: str = argument(..., "RECIPE", "bary, benchmark, infolm, lazy_emd or mover."),
    data: Path = option(..., "Folder of the data.", metavar="DIR"),
    output: Path = option(..., "Folder for the results.", "-o", "--output", metavar="FOLDER"),
    model: str | None = option(
        None,
        "Model of the metrics [default: NLGAUGE_MODEL, else embedded, and mpnet in further "
        "columns if it is stored].",
    ),
    inputs: int | None = option(
        None, "Maximum number of inputs per data set, evenly spaced.", min=2
    ),
) -> None:
    """Recompute the tables of a paper.

    Examples:

    nlgauge reproduce bary --data data -o bary/

    nlgauge reproduce lazy_emd --data data -o lazy_emd/ --model roberta-large --download

    nlgauge reproduce infolm --data data -o infolm/ --model bert-base-uncased --inputs 20

    Recipes and the files they read from --data, optionally gzipped; missing files are skipped:

    bary: wmt15_da/{cs,de,ru,fi}-en.jsonl, wmt16_da/{cs,de,ru,fi,ro,tr}-en.jsonl,
    webnlg2020/en.jsonl, realsumm/realsumm.jsonl, realsumm/stored_metric_scores.jsonl.

    benchmark: wmt15_da/fi-en.jsonl (Text Similarity as An Evaluation Measure).

    infolm: webnlg2020/en.jsonl, realsumm/realsumm.jsonl. Masked language models are slow, so the
    default is a sample of 40 inputs and 10 documents; see --inputs.

    lazy_emd: {wmt18,wmt19}_darr/<pair>.jsonl and {wmt18,wmt19}_darr/pairs/<pair>.darr.tsv.

    mover: wmt17_da/<pair>.jsonl (wmt15_da is used if it is missing),
    novikova2017/{bagel,sfhotel}.jsonl, the folders tac2008 and tac2009.

    The tables show the published numbers next to the new ones. The output folder contains them
    (.md, .tex), figures (.svg, .png) and summary.json.
    """
    from nlgauge.recipes import choose_recipe, reproduce

    choose_recipe(recipe)
    if output.is_file():
        raise UsageError(f"{str(output)!r} is a file; -o names the folder for the results")
    from nlgauge.encode.model_store import stored_model
    from nlgauge.recipes.recipe import Settings
    from nlgauge.report.formats import text
    from nlgauge.study import require_scipy

    require_scipy("nlgauge reproduce")  # before the metrics are computed
    others = (LARGER_MODEL,) if model is None and stored_model(LARGER_MODEL) else ()
    with options.running() as running:
        settings = Settings(model, inputs=inputs, other_models=others, **running)
        rebuilt = reproduce(recipe, data, settings)
    written, undrawn = rebuilt.write(output)
    sections = [section for table in rebuilt.tables.values() for section in table]
    shown = [f"{section.title}\n\n{text(section.table)}" for section in sections]
    print("\n\n".join([*shown, "\n".join(map(printable, rebuilt.about))]))
    listed = f"{output} contains {', '.join(path.name for path in written)}."
    print_notes([*rebuilt.notes, *undrawn, listed], quiet=options.quiet)
