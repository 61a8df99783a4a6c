"""The rows of the suite: which client makes which call over which transport, and what must then be true."""

import itertools
import os
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Set
from urllib.parse import quote

import requests

WRITES = "RestLi, OpenAPI v3"
RESTLI = "RestLi"
OPENAPI = "OpenAPI v3"
GRAPHQL = "GraphQL"
LOCAL = "none"

# How long an asynchronous write may take until it is read; far more than it does.
ASYNC_MAX_SECONDS = 60


@dataclass(frozen=True)
class Row:
    id: str
    client: str
    call: str
    wire: str
    result: str
    is_refused: bool
    run: Callable[["Case"], None]


ROWS: List[Row] = []


class Skipped(Exception):
    """What a row needs is not here; the text says what."""


def call(client: str, text: str, wire: str = WRITES, result: str = "works") -> Callable:
    """A call that works. One on `WRITES` runs once over each transport, any other runs once."""
    return _row(client, text, wire, result, is_refused=False)


def refused(client: str, text: str, wire: str = WRITES, result: str = "") -> Callable:
    """A call that is not supported; `result` is the error that the client gets."""
    return _row(client, text, wire, result, is_refused=True)


def _row(client: str, text: str, wire: str, result: str, is_refused: bool) -> Callable:
    def register(run: Callable[["Case"], None]) -> Callable[["Case"], None]:
        row = Row(f"{run.__module__}.{run.__name__}", client, text, wire, result, is_refused, run)
        if any(other.id == row.id or (other.client, other.call) == (row.client, row.call) for other in ROWS):
            raise ValueError(f"two rows are alike: {row.client}: {row.call}")
        ROWS.append(row)
        return run

    return register


def expect(actual: Any, expected: Any, what: str = "") -> None:
    if actual != expected:
        raise AssertionError(f"{what}{': ' if what else ''}expected {expected!r}, found {actual!r}")


def expect_error(act: Callable[[], Any], *fragments: str) -> str:
    """The text of the error that `act` ends with; all fragments are in it."""
    try:
        act()
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        missing = [fragment for fragment in fragments if fragment not in text]
        if missing:
            raise AssertionError(f"the error lacks {missing}: {text}") from error
        return text
    raise AssertionError("there was no error")


class Doors:
    """Reads of the catalog that go past the clients: plain HTTP."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {token}"

    def aspect(self, urn: Any, name: str, version: int = 0) -> Optional[Dict[str, Any]]:
        """The value of an aspect, or None."""
        answer = self._session.get(f"{self.url}/aspects/{quote(str(urn), safe='')}", params={"aspect": name, "version": version})
        if answer.status_code == 404:
            return None
        answer.raise_for_status()
        [value] = answer.json()["aspect"].values()
        return value

    def exists(self, urn: Any) -> bool:
        return self.graphql("query ($urn: String!) { entityExists(urn: $urn) }", urn=str(urn))["entityExists"]

    def graphql(self, query: str, **variables: Any) -> Dict[str, Any]:
        answer = self._session.post(f"{self.url}/api/graphql", json={"query": query, "variables": variables})
        body = answer.json()
        if answer.status_code != 200 or body.get("errors"):
            raise AssertionError(f"GraphQL answered {answer.status_code}: {body.get('errors')}")
        return body["data"]

    def lineage(self, urn: Any, direction: str, columns: bool = False) -> Dict[str, int]:
        """Every entity that is reached, with its degree; from a column, columns."""
        flags = {"groupingSpec": {"groupingCriteria": [{"baseEntityType": "SCHEMA_FIELD", "groupingEntityType": "SCHEMA_FIELD"}]}} if columns else {}
        query = "query ($input: SearchAcrossLineageInput!) { searchAcrossLineage(input: $input) { searchResults { degree entity { urn } } } }"
        found = self.graphql(query, input={"urn": str(urn), "direction": direction.upper(), "query": "*", "count": 10_000, "searchFlags": flags})
        return {result["entity"]["urn"]: result["degree"] for result in found["searchAcrossLineage"]["searchResults"]}

    def upstream(self, urn: Any) -> Set[str]:
        """What is one hop upstream."""
        return {found for found, degree in self.lineage(urn, "upstream").items() if degree == 1}

    def upstream_columns(self, urn: Any) -> Set[str]:
        """The columns one hop upstream, and the jobs that state the lineage between the two."""
        return {found for found, degree in self.lineage(urn, "upstream", columns=True).items() if degree == 1}

    def domain_of(self, urn: Any) -> Optional[str]:
        query = "query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn } } } }"
        domain = self.graphql(query, urn=str(urn))["dataset"]["domain"]
        return domain and domain["domain"]["urn"]


class Case:
    """What a row has to work with. Names made here are its own: rows share one catalog and do not meet."""

    def __init__(self, row: Row, transport: str) -> None:
        self.transport = transport
        self.name = f"{transport}.{row.id}"
        self.url = os.environ["DATAHUB_GMS_URL"]
        self.strict_url = os.environ["INTEROP_STRICT_URL"]
        self.token = os.environ["DATAHUB_GMS_TOKEN"]
        self.doors = Doors(self.url, self.token)
        self._numbers = itertools.count(1)

    # --- names

    def dataset(self, name: str, platform: str = "hive", env: str = "PROD") -> str:
        return f"urn:li:dataset:(urn:li:dataPlatform:{platform},{self.name}.{name},{env})"

    def column(self, dataset: str, path: str) -> str:
        return f"urn:li:schemaField:({dataset},{path})"

    def flow(self, name: str = "flow") -> str:
        return f"urn:li:dataFlow:(airflow,{self.name}.{name},PROD)"

    def job(self, name: str) -> str:
        return f"urn:li:dataJob:({self.flow()},{name})"

    def chart(self, name: str) -> str:
        return f"urn:li:chart:(looker,{self.name}.{name})"

    def dashboard(self, name: str) -> str:
        return f"urn:li:dashboard:(looker,{self.name}.{name})"

    def domain(self, name: str) -> str:
        return f"urn:li:domain:{self.name}.{name}"

    # --- clients

    def emitter(self, url: Optional[str] = None, token: Optional[str] = None, **options: Any) -> Any:
        from datahub.emitter.rest_emitter import DatahubRestEmitter

        emitter = DatahubRestEmitter(url or self.url, token=token or self.token, **options)
        # Reads /config, without which an emitter writes over RestLi whatever it is told.
        emitter.test_connection()
        return emitter

    def graph(self, **options: Any) -> Any:
        from datahub.ingestion.graph.client import DataHubGraph
        from datahub.ingestion.graph.config import ClientMode, DatahubClientConfig

        return DataHubGraph(DatahubClientConfig(**{"server": self.url, "token": self.token, "client_mode": ClientMode.SDK, **options}))

    def client(self, **options: Any) -> Any:
        from datahub.sdk import DataHubClient

        return DataHubClient(graph=self.graph(**options))

    def cli(self, *args: str, stdin: str = "", env: Optional[Dict[str, str]] = None, status: Optional[int] = 0) -> str:
        """What `datahub ...` prints. Fails where it does not end with `status`, of which None is any but 0."""
        ended = subprocess.run(["datahub", *args], input=stdin, capture_output=True, text=True, timeout=300, env={**os.environ, **(env or {})})
        if ended.returncode == 0 if status is None else ended.returncode != status:
            raise AssertionError(f"datahub {' '.join(args)} ended with {ended.returncode}: {ended.stdout[-2000:]}\n{ended.stderr[-2000:]}")
        return ended.stdout if status == 0 else ended.stdout + ended.stderr

    # --- a little of everything

    def write(self, urn: Any, aspect: Any) -> None:
        """Writes one aspect, as the ground a row stands on."""
        from datahub.emitter.mcp import MetadataChangeProposalWrapper

        self.emitter().emit_mcp(MetadataChangeProposalWrapper(entityUrn=str(urn), aspect=aspect))

    def describe(self, *urns: str) -> None:
        """Makes entities exist."""
        from datahub.metadata.schema_classes import StatusClass

        for urn in urns:
            self.write(urn, StatusClass(removed=False))

    def eventually(self, read: Callable[[], Any], wanted: Any) -> None:
        """Waits until `read` gives `wanted`: for writes that are asked to be asynchronous."""
        give_up_at = time.monotonic() + ASYNC_MAX_SECONDS
        while True:
            found = read()
            if found == wanted:
                return
            if time.monotonic() > give_up_at:
                raise AssertionError(f"still {found!r}, not {wanted!r}")
            time.sleep(0.05)

    def folder(self) -> Path:
        path = Path.cwd() / f"{self.name}.{next(self._numbers)}"
        path.mkdir()
        return path


def runs_over(row: Row, transport: str, is_first: bool) -> bool:
    """Rows whose transport is not a choice run once; a command that does not ingest has nothing to do with the queue, and takes seconds."""
    if row.client == "datahub" and "ingest" not in row.call and not is_first:
        return False
    if row.wire == OPENAPI:
        return transport == "openapi"
    return row.wire == WRITES or transport == "restli"


def run_rows(rows: List[Row], transport: str) -> bool:
    """Runs the rows, prints one line each and the sum. False where one failed."""
    passed = failed = skipped = 0
    for row in rows:
        title = f"{row.client}: {row.call} ({transport})"
        begun = time.monotonic()
        try:
            row.run(Case(row, transport))
        except Skipped as reason:
            skipped += 1
            print(f"skipped: {title}: {reason}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok: {title} [{row.id}]", flush=True)
            for line in traceback.format_exc().splitlines()[-12:]:
                print(f"  {line}", flush=True)
        else:
            passed += 1
            print(f"ok: {title} {time.monotonic() - begun:.1f} s", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return failed == 0


def quiet() -> None:
    """Warnings of the clients about themselves are not ours to show."""
    import logging
    import warnings

    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


def stop(message: str) -> None:
    print(message, file=sys.stderr)
    sys.exit(2)
