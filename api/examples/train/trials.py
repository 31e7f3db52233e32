# SPDX-License-Identifier: MIT
"""What scripts have in common that train many models: their command line, their files of results, one JSON object a line
for each training, and the tables made of these. Nothing but training needs PyTorch.

Every model is first trained at the three inner learning rates of RATES with seed 0, and judged on a validation draw; if the
best of them is an outer one of these, the rate beyond it is tried, too. The best rate trains the other seeds. What the tables
show is of the test draw, which chooses nothing.
"""

import argparse
import json
import pathlib
import statistics
import typing

RATES = (2e-2, 6e-3, 2e-3, 6e-4, 2e-4)

# Student's t with n - 1 degrees of freedom, which 9 in 10 draws are within, by n.
STUDENT = {2: 6.314, 3: 2.920, 4: 2.353, 5: 2.132, 6: 2.015, 7: 1.943, 8: 1.895}


class Measure(typing.NamedTuple):
    """What rows hold under "validation" and "test", and how a table writes it."""

    name: str
    scale: float = 1.0
    digits: int = 1
    fewer: bool = False  # is better
    bounds: tuple = (0.0, 100.0)

    def of(self, rows, field="test"):
        return [self.scale * row[field] for row in rows]

    def better(self, a, b):
        return a < b if self.fewer else a > b

    def sorted(self, values):
        """From worse to better."""
        return sorted(values, reverse=self.fewer)

    def text(self, value):
        return f"{value:.{self.digits}f}"


RIGHT = Measure("right, %", scale=100.0)


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def matching(rows, **fields):
    return [row for row in rows if fields.items() <= row.items()]


def best_rate(rows, measure):
    """Of the rows of one model: the rate at which seed 0 was the best on the validation draw."""
    rows = matching(rows, seed=0)
    least_first = sorted(rows, key=lambda row: row["validation"], reverse=not measure.fewer)
    return least_first[0]["rate"]


def counted(rows, measure, **fields):
    """The runs of one model that count: those at its best rate, from the lowest seed on."""
    rows = matching(rows, **fields)
    if not matching(rows, seed=0):
        return []
    return sorted(matching(rows, rate=best_rate(rows, measure)), key=lambda row: row["seed"])


def keys(path, fields, models, args, measure):
    """What is to be trained, in order. Each key depends on what those before have found."""
    for model in models:
        common = {**fields, "model": model, "steps": args.steps}

        def best():
            return best_rate([row for row in matching(read(path), **common) if row["rate"] in RATES], measure)

        if args.rate:
            yield from ({**common, "rate": args.rate, "seed": seed} for seed in range(args.seeds))
            continue
        for rate in RATES[1:-1]:
            yield {**common, "rate": rate, "seed": 0}
        for outer, inner in ((0, 1), (-1, -2)):
            if best() == RATES[inner]:
                yield {**common, "rate": RATES[outer], "seed": 0}
        yield from ({**common, "rate": best(), "seed": seed} for seed in range(1, args.seeds))


def complete(path, keys, train):
    """Adds to `path` the row of every key that it has none of: the key's fields and those of train(key)."""
    for key in keys:
        if matching(read(path), **key):
            continue
        print(", ".join(f"{name} {value}" for name, value in key.items()), flush=True)
        row = {**key, **train(key)}
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


def parser_of(doc, models, steps):
    """The options of every such script."""
    parser = argparse.ArgumentParser(description=" ".join(doc.split("\n\n")[0].split()))
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--model", nargs="*", choices=list(models), default=list(models))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rate", type=float, help="train at this learning rate alone")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--again", action="store_true",
                        help="a row is a row of this number of threads and this width of vectors: to see what these change")
    parser.add_argument("--table", action="store_true", help="print the results' table, and train nothing")
    return parser


def run(args, table, fields, make_train, measure):
    """Prints the table, or trains every model: `fields` are those of all keys, make_train() gives the function of a key
    that trains and measures."""
    if args.table:
        print(table(read(args.results)))
        return
    if args.again and not args.rate:
        raise SystemExit("--again needs --rate: the one at which a row was trained")
    import torch
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(args.threads)
    machine = {"threads": args.threads, "vectors": torch.backends.cpu.get_cpu_capability()}
    if args.again:
        fields = {**fields, **machine}
    train = make_train()
    complete(args.results, keys(args.results, fields, args.model, args, measure),
             lambda key: {**machine, **train(key)})


def main_on_text(doc, task, models, steps, table, trained, measure):
    """The whole of a script whose models learn from data_text.py's text: trained(key, text) gives what a row says."""
    parser = parser_of(doc, models, steps)
    parser.add_argument("cache", type=pathlib.Path, nargs="?", help="what data_text.py reads; needed to train")
    args = parser.parse_args()
    if not args.table and not args.cache:
        parser.error("CACHE is missing")

    def make_train():
        import data_text
        text = data_text.Data(args.cache)
        return lambda key: trained(key, text)

    run(args, table, {"task": task}, make_train, measure)


def one_more(values, bounds):
    """(low, high): 9 in 10 further runs are within, if runs are normally distributed, and no number is outside `bounds`."""
    n, mean = len(values), statistics.fmean(values)
    half = STUDENT[n] * statistics.stdev(values) * (1 + 1 / n) ** 0.5
    return max(bounds[0], mean - half), min(bounds[1], mean + half)


def row_of(name, rows, measure, learns):
    """A line of a table: the validation at each rate, the chosen one in bold, and the runs at that rate."""
    runs = counted(rows, measure)
    values, best = measure.of(runs), runs[0]["rate"]
    at = {row["rate"]: measure.text(measure.scale * row["validation"]) for row in matching(rows, seed=0)}
    tried = [f"**{at[rate]}**" if rate == best else at.get(rate, "–") for rate in RATES]
    low, high = one_more(values, measure.bounds) if len(values) > 1 else (None, None)
    spread = [f"{measure.text(min(values))} … {measure.text(max(values))}",
              f"{measure.text(low)} … {measure.text(high)}"] if len(values) > 1 else ["–", "–"]
    mean = measure.text(statistics.fmean(values))
    return [name, f"{runs[0]['parameters']:,}", *tried, str(len(values)), mean if learns else f"{mean}: does not learn",
            *spread]


def table_of(rows, names, measure, learns, more=()):
    """Markdown: a line for each model of `names` that has been trained. learns(rows) says whether a model does at all;
    `more` are further columns, (name, function of the runs)."""
    lines = []
    for name in names:
        found = matching(rows, model=name)
        if matching(found, seed=0):
            line = row_of(name, found, measure, learns(counted(found, measure)))
            lines.append(line + [function(counted(found, measure)) for _, function in more])
    head = ["Model", "parameters", *(f"at {rate:g}" for rate in RATES), "runs", measure.name, "least … largest",
            "one more run", *(title for title, _ in more)]
    return markdown(head, lines)


def markdown(head, lines):
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, *lines]]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])
