"""Runs the suite over the transport that the environment names: run.py [--only WORD] [--bench] [--write-table]."""

import argparse
import json
import os
import sys
from pathlib import Path

import suite

TABLE = Path(__file__).resolve().parent.parent / "calls.json"
MODULES = ["emitter_calls", "patch_calls", "builder_calls", "graph_calls", "graphql_calls", "entity_calls", "lineage_calls", "search_calls", "cli_calls", "file_calls", "model_calls", "oracle_calls"]


def table() -> str:
    """The rows as docs/datahub.md shows them."""
    rows = [{"client": row.client, "call": row.call, "transport": row.wire, "result": row.result, "isRefused": row.is_refused} for row in suite.ROWS]
    return json.dumps(rows, indent=1) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--write-table", action="store_true")
    options = parser.parse_args()
    suite.quiet()
    for module in MODULES:
        __import__(module)
    if options.write_table:
        TABLE.write_text(table())
        return 0
    transport = os.environ["DATAHUB_REST_EMITTER_DEFAULT_ENDPOINT"]
    if options.bench:
        import bench

        return bench.run(transport)
    if TABLE.read_text() != table():
        print("not ok: test/interop/calls.json is not what the rows say; write it with npm run interop -- --write-table")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    rows = [row for row in suite.ROWS if suite.runs_over(row, transport, os.environ["INTEROP_IS_FIRST"] == "true") and options.only in f"{row.id} {row.client} {row.call}"]
    return 0 if suite.run_rows(rows, transport) else 1


sys.exit(main())
