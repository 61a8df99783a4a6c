"""What sqlglot answers for the statements of test/sql/cases: a second opinion on their answers.

Reads a list of {sql, dialect, database, schema, schemas} from stdin and prints for each a list of its statements,
{tables, columns: {name: [[table, column], ...]}}, or {error}.
"""

import json
import logging
import sys

import sqlglot
from sqlglot import exp
from sqlglot.lineage import lineage
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import build_scope
from sqlglot.schema import MappingSchema

logging.disable(logging.CRITICAL)


def whole_name(table: exp.Table, question: dict) -> str:
    db = table.text("db") or question.get("schema") or ""
    catalog = table.text("catalog") or (question.get("database") or "" if db else "")
    return ".".join(part for part in (catalog, db, table.name) if part)


def schema_of(question: dict, dialect: str) -> MappingSchema:
    nested: dict = {}
    for name, columns in question["schemas"].items():
        place = nested
        *path, table = name.split(".")
        for part in path:
            place = place.setdefault(part, {})
        place[table] = columns
    return MappingSchema(nested, dialect=dialect)


def leaves_of(node, question: dict) -> set:
    if node.downstream:
        return set().union(*(leaves_of(each, question) for each in node.downstream))
    if isinstance(node.expression, exp.Table) and isinstance(node.expression.this, exp.Identifier):
        column = exp.to_column(node.name) if "." in node.name else None
        name = node.name.rsplit(".", 1)[-1].strip('"`[]')
        return {(whole_name(node.expression, question), column.name if column else name)}
    return set()


def columns_of(query: exp.Expression, question: dict, dialect: str, names: list) -> dict:
    schema = schema_of(question, dialect)
    qualified = qualify(
        query.copy(),
        schema=schema,
        dialect=dialect,
        catalog=question.get("database"),
        db=question.get("schema"),
        validate_qualify_columns=False,
        infer_schema=True,
        identify=False,
    )
    scope = build_scope(qualified)
    found = {}
    for position, projection in enumerate(qualified.selects):
        name = names[position] if position < len(names) else projection.alias_or_name
        if not projection.alias_or_name:
            continue
        if projection.is_star:
            found["*"] = []
            continue
        node = lineage(exp.column(exp.to_identifier(projection.alias_or_name, quoted=True)), qualified, schema=schema, scope=scope, dialect=dialect)
        found[name] = sorted(leaves_of(node, question))
    return found


def tables_of(expression: exp.Expression, question: dict) -> set:
    ctes = {cte.alias.lower() for cte in expression.find_all(exp.CTE)}
    return {
        whole_name(table, question)
        for table in expression.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and (table.db or table.name.lower() not in ctes)
    }


def assigned(statement, pairs, sources) -> exp.Select:
    """A query whose columns are what the pairs of name and expression assign."""
    first, *others = sources
    query = exp.select(*(exp.alias_(value.copy(), name) for name, value in pairs)).from_(first.copy())
    for other in others:
        query = query.join(other.copy(), join_type="cross")
    if statement.args.get("with_"):
        query.set("with_", statement.args["with_"].copy())
    return query


def names_of_schema(target) -> list:
    return [each.name for each in target.expressions] if isinstance(target, exp.Schema) else []


def answer_of(statement: exp.Expression, question: dict, dialect: str) -> dict:
    tables = sorted(tables_of(statement, question))
    columns: dict = {}
    if isinstance(statement, exp.Query):
        columns = columns_of(statement, question, dialect, [])
    elif isinstance(statement, exp.Create) and isinstance(statement.expression, exp.Query):
        columns = columns_of(statement.expression, question, dialect, names_of_schema(statement.this))
    elif isinstance(statement, exp.Insert) and isinstance(statement.expression, exp.Query):
        query = statement.expression
        if statement.args.get("with_"):
            query = query.copy()
            query.set("with_", statement.args["with_"].copy())
        names = names_of_schema(statement.this)
        if not names and isinstance(statement.this, exp.Table):
            names = list(question["schemas"].get(whole_name(statement.this, question), {}))
        columns = columns_of(query, question, dialect, names)
    elif isinstance(statement, exp.Update):
        pairs = [(each.this.name, each.expression) for each in statement.expressions if isinstance(each, exp.EQ)]
        source = statement.args.get("from_")
        sources = [statement.this] + ([source.this] if source else [])
        columns = columns_of(assigned(statement, pairs, sources), question, dialect, [])
    elif isinstance(statement, exp.Merge):
        found: dict = {}
        for when in statement.args["whens"].expressions:
            then = when.args["then"]
            if isinstance(then, exp.Update):
                pairs = [(each.this.name, each.expression) for each in then.expressions]
            elif isinstance(then, exp.Insert) and then.expression and then.this:
                pairs = [(name.name, value) for name, value in zip(then.this.expressions, then.expression.expressions)]
            else:
                continue
            query = assigned(statement, pairs, [statement.this, statement.args["using"]])
            for name, upstreams in columns_of(query, question, dialect, []).items():
                found.setdefault(name, set()).update(map(tuple, upstreams))
        columns = {name: sorted(upstreams) for name, upstreams in found.items()}
    return {"tables": tables, "columns": columns}


def answers_to(question: dict) -> list:
    dialect = "" if question["dialect"] == "generic" else question["dialect"]
    answers = []
    for statement in sqlglot.parse(question["sql"], dialect=dialect):
        if statement is None or isinstance(statement, (exp.Semicolon, exp.Command)):
            continue
        try:
            answers.append(answer_of(statement, question, dialect))
        except Exception as error:  # whatever it cannot do is no opinion
            answers.append({"error": f"{type(error).__name__}: {str(error)[:200]}"})
    return answers


def main() -> None:
    found = []
    for question in json.load(sys.stdin):
        try:
            found.append(answers_to(question))
        except Exception as error:
            found.append([{"error": f"{type(error).__name__}: {str(error)[:200]}"}])
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
