"""OpenLineage's own Python client, unmodified, over its sync and async transports, plain and gzip, with tables that openlineage-sql reads from SQL."""

import os
import sys
import traceback
import uuid
from datetime import datetime, timezone
from typing import Callable, List, Optional

import requests
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Dataset, DatasetEvent, InputDataset, Job, JobEvent, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import column_lineage_dataset, documentation_dataset, schema_dataset
from openlineage.client.transport.async_http import AsyncHttpConfig, AsyncHttpTransport
from openlineage.client.transport.http import ApiKeyTokenProvider, HttpCompression, HttpConfig, HttpTransport
from openlineage_sql import parse

URL, TOKEN = os.environ["DATAHUB_GMS_URL"], os.environ["DATAHUB_GMS_TOKEN"]
PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/client/python"
WAREHOUSE = "postgres://warehouse:5432"


def urn(name: str) -> str:
    return f"urn:li:dataset:(urn:li:dataPlatform:postgres,{name},PROD)"


def job_urn(name: str, namespace: str = "interop") -> str:
    return f"urn:li:dataJob:(urn:li:dataFlow:(python,{name.split('.')[0]},{namespace}),{name})"


def edge(upstream: str, downstream: str) -> Optional[dict]:
    query = "query ($up: String!, $down: String!) { lineageEdge(upstreamUrn: $up, downstreamUrn: $down) { lastUsed statements { source } } }"
    answer = requests.post(f"{URL}/api/graphql", json={"query": query, "variables": {"up": upstream, "down": downstream}}, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=20)
    return answer.json()["data"]["lineageEdge"]


def expect_edges(job: str, tag: str) -> None:
    assert edge(urn(f"{tag}.in"), job_urn(job)), f"{tag}.in does not flow into {job}"
    assert edge(job_urn(job), urn(f"{tag}.out")), f"{job} does not flow into {tag}.out"
    column = edge(f"urn:li:schemaField:({urn(f'{tag}.in')},a)", f"urn:li:schemaField:({urn(f'{tag}.out')},b)")
    assert column, f"{tag}.in.a does not flow into {tag}.out.b"


def events_of(tag: str) -> List[RunEvent]:
    """START with the input, COMPLETE with the output and its columns."""
    run, job = Run(runId=str(uuid.uuid4())), Job(namespace="interop", name=f"{tag}.load")
    columns = column_lineage_dataset.ColumnLineageDatasetFacet(fields={"b": column_lineage_dataset.Fields(inputFields=[column_lineage_dataset.InputField(namespace=WAREHOUSE, name=f"{tag}.in", field="a")])})
    schema = schema_dataset.SchemaDatasetFacet(fields=[schema_dataset.SchemaDatasetFacetFields(name="b", type="int")])
    now = datetime.now(timezone.utc)
    return [
        RunEvent(eventType=RunState.START, eventTime=now.isoformat(), run=run, job=job, producer=PRODUCER, inputs=[InputDataset(namespace=WAREHOUSE, name=f"{tag}.in")], outputs=[]),
        RunEvent(eventType=RunState.COMPLETE, eventTime=now.isoformat(), run=run, job=job, producer=PRODUCER, inputs=[], outputs=[OutputDataset(namespace=WAREHOUSE, name=f"{tag}.out", facets={"schema": schema, "columnLineage": columns})]),
    ]


def sync_transport(tag: str, **more: object) -> None:
    client = OpenLineageClient(transport=HttpTransport(HttpConfig(url=URL, auth=ApiKeyTokenProvider({"apiKey": TOKEN}), **more)))
    for event in events_of(tag):
        client.emit(event)
    expect_edges(f"{tag}.load", tag)


def sync() -> None:
    sync_transport("sync")


def sync_gzip() -> None:
    sync_transport("sync_gzip", compression=HttpCompression.GZIP)


def async_transport(tag: str, **more: object) -> None:
    client = OpenLineageClient(transport=AsyncHttpTransport(AsyncHttpConfig(url=URL, auth=ApiKeyTokenProvider({"apiKey": TOKEN}), **more)))
    for event in events_of(tag):
        client.emit(event)
    assert client.close(timeout=30), "events were not sent in time"
    expect_edges(f"{tag}.load", tag)


def asynchronous() -> None:
    async_transport("async")


def asynchronous_gzip() -> None:
    async_transport("async_gzip", compression=HttpCompression.GZIP)


def from_environment() -> None:
    """As Airflow and dbt-ol have it: two variables and nothing else."""
    os.environ["OPENLINEAGE_URL"], os.environ["OPENLINEAGE_API_KEY"] = URL, TOKEN
    client = OpenLineageClient()
    for event in events_of("environment"):
        client.emit(event)
    expect_edges("environment.load", "environment")


def job_and_dataset_events() -> None:
    client = OpenLineageClient(transport=HttpTransport(HttpConfig(url=URL, auth=ApiKeyTokenProvider({"apiKey": TOKEN}))))
    now = datetime.now(timezone.utc).isoformat()
    client.emit(JobEvent(eventTime=now, producer=PRODUCER, job=Job(namespace="interop", name="static.load"), inputs=[InputDataset(namespace=WAREHOUSE, name="static.in")], outputs=[OutputDataset(namespace=WAREHOUSE, name="static.out")]))
    documentation = documentation_dataset.DocumentationDatasetFacet(description="made by hand")
    client.emit(DatasetEvent(eventTime=now, producer=PRODUCER, dataset=Dataset(namespace=WAREHOUSE, name="static.out", facets={"documentation": documentation})))
    assert edge(urn("static.in"), job_urn("static.load")), "a job event states no edge"


def sql() -> None:
    meta = parse(["insert into mart.revenue select sum(o.total) from raw.orders o join raw.customers c on c.id = o.customer"], dialect="postgres")
    client = OpenLineageClient(transport=HttpTransport(HttpConfig(url=URL, auth=ApiKeyTokenProvider({"apiKey": TOKEN}))))
    tables = lambda found: [table.qualified_name for table in found]
    client.emit(
        RunEvent(
            eventType=RunState.COMPLETE,
            eventTime=datetime.now(timezone.utc).isoformat(),
            run=Run(runId=str(uuid.uuid4())),
            job=Job(namespace="interop", name="sql.revenue"),
            producer=PRODUCER,
            inputs=[InputDataset(namespace=WAREHOUSE, name=f"shop.{name}") for name in tables(meta.in_tables)],
            outputs=[OutputDataset(namespace=WAREHOUSE, name=f"shop.{name}") for name in tables(meta.out_tables)],
        )
    )
    for name in ("raw.orders", "raw.customers"):
        assert edge(urn(f"shop.{name}"), job_urn("sql.revenue")), f"{name} was not read"
    assert edge(job_urn("sql.revenue"), urn("shop.mart.revenue")), "mart.revenue was not written"


def batch() -> None:
    """The client has no batch call yet: the events are its own, the request is the specification's."""
    from openlineage.client.serde import Serde

    body = "[" + ",".join(Serde.to_json(event) for event in events_of("batch")) + "]"
    answer = requests.post(f"{URL}/api/v1/lineage/batch", data=body, headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}, timeout=20)
    assert answer.status_code == 200 and answer.json()["summary"]["successful"] == 2, answer.text
    expect_edges("batch.load", "batch")


CASES: List[Callable[[], None]] = [sync, sync_gzip, asynchronous, asynchronous_gzip, from_environment, job_and_dataset_events, sql, batch]


def main() -> int:
    failed = 0
    for case in CASES:
        try:
            case()
            print(f"ok: openlineage-python {case.__name__}")
        except Exception:
            failed += 1
            print(f"not ok: openlineage-python {case.__name__}")
            traceback.print_exc(file=sys.stdout)
    print(f"{len(CASES) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
