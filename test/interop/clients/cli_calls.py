"""Calls of the `datahub` command, as a shell makes them."""

import json
import sqlite3

from datahub.metadata import schema_classes as m

from emitter_calls import schema, upstreams
from graph_calls import chain
from suite import Case, GRAPHQL, LOCAL, OPENAPI, RESTLI, call, expect, refused

CLIENT = "datahub"


def aspect_file(c: Case, value: dict) -> str:
    path = c.folder() / "aspect.json"
    path.write_text(json.dumps(value))
    return str(path)


@call(CLIENT, "datahub version", LOCAL)
def version(c: Case) -> None:
    expect("1.7.0.17" in c.cli("version"), True)


@call(CLIENT, "datahub check server-config", RESTLI)
def server_config(c: Case) -> None:
    expect("noCode" in c.cli("check", "server-config"), True)


@call(CLIENT, "datahub put --urn --aspect --aspect-data", RESTLI)
def put(c: Case) -> None:
    up, down = c.dataset("up"), c.dataset("down")
    c.cli("put", "--urn", down, "--aspect", "upstreamLineage", "--aspect-data", aspect_file(c, {"upstreams": [{"dataset": up, "type": "TRANSFORMED", "auditStamp": {"time": 0, "actor": "urn:li:corpuser:unknown"}}]}))
    expect(c.doors.upstream(down), {up})


@call(CLIENT, "datahub put --run-id", RESTLI)
def put_run(c: Case) -> None:
    c.cli("put", "--urn", c.dataset("a"), "--aspect", "datasetProperties", "--run-id", "by hand", "--aspect-data", aspect_file(c, {"description": "put"}))
    expect(c.doors.aspect(c.dataset("a"), "datasetProperties")["description"], "put")


@call(CLIENT, "datahub put of a domain", RESTLI)
def put_domain(c: Case) -> None:
    c.cli("put", "--urn", c.domain("d"), "--aspect", "domainProperties", "--aspect-data", aspect_file(c, {"name": c.name, "description": "put"}))
    expect(c.doors.graphql("query ($urn: String!) { domain(urn: $urn) { properties { description } } }", urn=c.domain("d"))["domain"]["properties"]["description"], "put")


@call(CLIENT, "datahub put platform")
def put_platform(c: Case) -> None:
    name = c.name.replace(".", "").replace("_", "")
    c.cli("put", "platform", "--name", name, "--display_name", "A platform", "--logo", "http://x/logo.png")
    expect(c.doors.graphql("query ($urn: String!) { dataPlatform(urn: $urn) { properties { displayName logoUrl } } }", urn=f"urn:li:dataPlatform:{name}")["dataPlatform"]["properties"], {"displayName": "A platform", "logoUrl": "http://x/logo.png"})


@call(CLIENT, "datahub get --urn --aspect", RESTLI)
def get(c: Case) -> None:
    c.write(c.dataset("a"), m.DatasetPropertiesClass(description="got"))
    expect(json.loads(c.cli("get", "--urn", c.dataset("a"), "--aspect", "datasetProperties"))["datasetProperties"]["description"], "got")


@call(CLIENT, "datahub get --urn, all aspects", RESTLI)
def get_all(c: Case) -> None:
    [up, down] = chain(c, "up", "down")
    found = json.loads(c.cli("get", "--urn", down))
    expect(sorted(found), ["datasetKey", "status", "upstreamLineage"])
    expect([entry["dataset"] for entry in found["upstreamLineage"]["upstreams"]], [up])


@call(CLIENT, "datahub get --details", RESTLI)
def get_details(c: Case) -> None:
    c.write(c.dataset("a"), m.DatasetPropertiesClass(description="got"))
    found = json.loads(c.cli("get", "--urn", c.dataset("a"), "--aspect", "datasetProperties", "--details"))["datasetProperties"]
    expect(("got" in json.dumps(found), "systemMetadata" in found), (True, True))


@call(CLIENT, "datahub get of a timeseries aspect", RESTLI)
def get_timeseries(c: Case) -> None:
    c.write(c.dataset("a"), m.DatasetProfileClass(timestampMillis=1_700_000_000_000, rowCount=12))
    expect(json.loads(c.cli("get", "--urn", c.dataset("a"), "--aspect", "datasetProfile"))["datasetProfile"]["rowCount"], 12)


@refused(CLIENT, "datahub get of an absent entity", RESTLI, result="exit 1: `urn … not found`")
def get_absent(c: Case) -> None:
    expect("not found" in c.cli("get", "--urn", c.dataset("a"), status=1), True)


@call(CLIENT, "datahub exists --urn", RESTLI)
def exists(c: Case) -> None:
    c.describe(c.dataset("a"))
    expect([json.loads(c.cli("exists", "--urn", c.dataset(name))) for name in ["a", "never"]], [True, False])


@call(CLIENT, "datahub delete --urn --soft")
def delete_soft(c: Case) -> None:
    [a, b] = chain(c, "a", "b")
    c.cli("delete", "--urn", b, "--soft")
    expect((c.doors.lineage(a, "downstream"), c.doors.aspect(b, "status")), ({}, {"removed": True}))


@call(CLIENT, "datahub delete --urn --hard", RESTLI)
def delete_hard(c: Case) -> None:
    [a, b] = chain(c, "a", "b")
    c.cli("delete", "--urn", b, "--hard", "--force")
    expect((c.doors.exists(b), b in c.doors.lineage(a, "downstream")), (False, False))


@call(CLIENT, "datahub delete --platform --env --entity-type --hard", GRAPHQL)
def delete_filter(c: Case) -> None:
    platform = c.name.replace(".", "").replace("_", "")
    gone, kept = c.dataset("gone", platform=platform), c.dataset("kept", platform=platform, env="DEV")
    c.describe(gone, kept)
    c.cli("delete", "--platform", platform, "--entity-type", "dataset", "--env", "PROD", "--hard", "--force")
    expect((c.doors.exists(gone), c.doors.exists(kept)), (False, True))


@call(CLIENT, "datahub delete --query --soft --dry-run", GRAPHQL)
def delete_dry(c: Case) -> None:
    word = c.name.replace(".", "").replace("_", "")
    c.write(c.dataset("a"), m.DatasetPropertiesClass(name=word))
    expect("1" in c.cli("delete", "--query", word, "--soft", "--dry-run"), True)
    expect(c.doors.aspect(c.dataset("a"), "status"), None)


@call(CLIENT, "datahub delete references", RESTLI)
def delete_references(c: Case) -> None:
    [a, b] = chain(c, "a", "b")
    c.cli("delete", "references", "--urn", a, "--force")
    expect(c.doors.upstream(b), set())


@call(CLIENT, "datahub lineage --urn --direction --hops --format json", GRAPHQL)
def lineage(c: Case) -> None:
    [a, b, end] = chain(c, "a", "b", "c")
    found = json.loads(c.cli("lineage", "--urn", a, "--direction", "downstream", "--hops", "3", "--format", "json"))
    expect({result["urn"]: result["hops"] for result in found["results"]}, {b: 1, end: 2})
    expect(a in c.cli("lineage", "--urn", end), True)


@call(CLIENT, "datahub lineage --column", GRAPHQL)
def lineage_column(c: Case) -> None:
    a, b = c.dataset("a"), c.dataset("b")
    c.describe(a, b)
    c.client().lineage.add_lineage(upstream=a, downstream=b, column_lineage={"y": ["x"]})
    found = json.loads(c.cli("lineage", "--urn", a, "--column", "x", "--direction", "downstream", "--format", "json"))
    expect([(result["urn"], result["hops"]) for result in found["results"]], [(b, 1)])


@call(CLIENT, "datahub lineage path --from --to", GRAPHQL)
def lineage_path(c: Case) -> None:
    [a, _, end] = chain(c, "a", "b", "c")
    expect("Path found (2 hops)" in c.cli("lineage", "path", "--from", a, "--to", end), True)


@refused(CLIENT, "datahub timeline --urn --category", OPENAPI, result="404, NOT_FOUND: `No such route: GET /openapi/v2/timeline/v1/…`")
def timeline(c: Case) -> None:
    c.describe(c.dataset("a"))
    shown = c.cli("timeline", "--urn", c.dataset("a"), "--category", "tag")
    expect("404" in shown and "No such route: GET /openapi/v2/timeline/v1/" in shown, True, shown)


@call(CLIENT, "datahub graphql --query --variables", GRAPHQL)
def graphql(c: Case) -> None:
    c.describe(c.dataset("a"))
    found = json.loads(c.cli("graphql", "--query", "query q($urn: String!) { dataset(urn: $urn) { urn exists } }", "--variables", json.dumps({"urn": c.dataset("a")}), "--format", "json"))
    expect((found.get("data") or found)["dataset"], {"urn": c.dataset("a"), "exists": True})


@call(CLIENT, "datahub graphql --operation", GRAPHQL)
def graphql_operation(c: Case) -> None:
    found = c.cli("graphql", "--operation", "createDomain", "--variables", json.dumps({"input": {"name": c.name, "id": c.name}}))
    expect((f"urn:li:domain:{c.name}" in found, c.doors.exists(f"urn:li:domain:{c.name}")), (True, True))


@call(CLIENT, "datahub graphql --list-operations, --list-queries, --list-mutations", GRAPHQL)
def graphql_list(c: Case) -> None:
    expect([name in c.cli("graphql", "--list-operations") for name in ["scrollAcrossLineage", "updateLineage"]], [True, True])
    expect("scrollAcrossLineage" in c.cli("graphql", "--list-queries") and "updateLineage" in c.cli("graphql", "--list-mutations"), True)


@call(CLIENT, "datahub graphql --describe --recurse", GRAPHQL)
def graphql_describe(c: Case) -> None:
    found = c.cli("graphql", "--describe", "updateLineage", "--recurse")
    expect(["UpdateLineageInput" in found, "edgesToAdd" in found, "upstreamUrn" in found], [True, True, True])


@call(CLIENT, "datahub graphql --strip-unknown-fields", GRAPHQL)
def graphql_strip(c: Case) -> None:
    c.describe(c.dataset("a"))
    query = f'{{ dataset(urn: "{c.dataset("a")}") {{ urn nothingLikeThis {{ at all }} }} }}'
    expect(c.dataset("a") in c.cli("graphql", "--query", query, "--strip-unknown-fields"), True)


@refused(CLIENT, "datahub graphql of an unknown field", GRAPHQL, result="an exit code that is not 0, and the name of the field")
def graphql_unknown(c: Case) -> None:
    expect("listPolicies" in c.cli("graphql", "--query", "{ listPolicies(input: {}) { total } }", status=None), True)


@call(CLIENT, "datahub search query --format json, --urns-only, --filter", GRAPHQL)
def search(c: Case) -> None:
    word = c.name.replace(".", "").replace("_", "")
    for urn in [c.dataset("a"), c.dataset("b", platform="postgres")]:
        c.write(urn, m.DatasetPropertiesClass(name=word, description="found"))
    found = json.loads(c.cli("search", "query", word, "--format", "json"))
    results = found.get("searchResults") or found.get("results")
    expect({result["entity"]["urn"] for result in results}, {c.dataset("a"), c.dataset("b", platform="postgres")})
    expect(c.cli("search", "query", word, "--urns-only", "--filter", "platform=postgres").split(), [c.dataset("b", platform="postgres")])


@call(CLIENT, "datahub search query --facets-only, --table", GRAPHQL)
def search_facets(c: Case) -> None:
    word = c.name.replace(".", "").replace("_", "")
    c.write(c.dataset("a"), m.DatasetPropertiesClass(name=word, description="found"))
    expect("hive" in c.cli("search", "query", word, "--facets-only"), True)
    expect(word in c.cli("search", "query", word, "--table"), True)


def recipe(c: Case, source: dict, **sink: object) -> str:
    path = c.folder() / "recipe.json"
    path.write_text(json.dumps({"source": source, "sink": {"type": "datahub-rest", "config": {"server": c.url, "token": c.token, **sink}}}))
    return str(path)


@call(CLIENT, "datahub ingest -c recipe, a file source")
def ingest_file(c: Case) -> None:
    from datahub.ingestion.sink.file import write_metadata_file

    from datahub.emitter.mcp import MetadataChangeProposalWrapper as Proposal

    up, down = c.dataset("up"), c.dataset("down")
    file = c.folder() / "file.json"
    write_metadata_file(file, [Proposal(entityUrn=up, aspect=m.DatasetPropertiesClass(description="up")), Proposal(entityUrn=down, aspect=upstreams(up))])
    found = c.cli("ingest", "-c", recipe(c, {"type": "file", "config": {"path": str(file)}}))
    expect("Pipeline finished" in found or "finished successfully" in found.lower(), True)
    c.eventually(lambda: c.doors.exists(up) and c.doors.upstream(down), {up})


@call(CLIENT, "datahub ingest -c recipe, sqlite through sqlalchemy")
def ingest_sqlite(c: Case) -> None:
    platform = c.name.replace(".", "").replace("_", "")
    file = c.folder() / "shop.db"
    database = sqlite3.connect(file)
    database.executescript("create table orders (id integer primary key, amount real); create table customers (id integer, name text); create view totals as select sum(amount) as total from orders;")
    database.close()
    c.cli("ingest", "-c", recipe(c, {"type": "sqlalchemy", "config": {"connect_uri": f"sqlite:///{file}", "platform": platform}}))
    tables = {f"urn:li:dataset:(urn:li:dataPlatform:{platform},main.{name},PROD)": columns for name, columns in [("orders", ["id", "amount"]), ("customers", ["id", "name"]), ("totals", ["total"])]}
    read = lambda urn: [field["fieldPath"] for field in (c.doors.aspect(urn, "schemaMetadata") or {"fields": []})["fields"]]
    c.eventually(lambda: {urn: read(urn) for urn in tables}, tables)


@call(CLIENT, "datahub ingest --dry-run, --preview", RESTLI)
def ingest_dry(c: Case) -> None:
    from datahub.emitter.mcp import MetadataChangeProposalWrapper as Proposal
    from datahub.ingestion.sink.file import write_metadata_file

    file = c.folder() / "file.json"
    write_metadata_file(file, [Proposal(entityUrn=c.dataset("a"), aspect=schema("a"))])
    c.cli("ingest", "-c", recipe(c, {"type": "file", "config": {"path": str(file)}}), "--dry-run")
    expect(c.doors.exists(c.dataset("a")), False)


@call(CLIENT, "datahub ingest mcps <file>", RESTLI)
def ingest_mcps(c: Case) -> None:
    from datahub.emitter.mcp import MetadataChangeProposalWrapper as Proposal
    from datahub.ingestion.sink.file import write_metadata_file

    file = c.folder() / "file.json"
    write_metadata_file(file, [Proposal(entityUrn=c.dataset("a"), aspect=schema("a"))])
    c.cli("ingest", "mcps", str(file))
    c.eventually(lambda: c.doors.exists(c.dataset("a")), True)


@call(CLIENT, "datahub ingest with a transformer that sets a domain")
def ingest_transformed(c: Case) -> None:
    from datahub.emitter.mcp import MetadataChangeProposalWrapper as Proposal
    from datahub.ingestion.sink.file import write_metadata_file

    c.write(c.domain("d"), m.DomainPropertiesClass(name=c.name))
    folder = c.folder()
    write_metadata_file(folder / "file.json", [Proposal(entityUrn=c.dataset("a"), aspect=m.StatusClass())])
    pipeline = {
        "source": {"type": "file", "config": {"path": str(folder / "file.json")}},
        "transformers": [{"type": "simple_add_dataset_domain", "config": {"domains": [c.domain("d")]}}],
        "sink": {"type": "datahub-rest", "config": {"server": c.url, "token": c.token}}
    }
    (folder / "recipe.json").write_text(json.dumps(pipeline))
    c.cli("ingest", "-c", str(folder / "recipe.json"))
    c.eventually(lambda: c.doors.exists(c.dataset("a")) and c.doors.domain_of(c.dataset("a")), c.domain("d"))


@call(CLIENT, "datahub dataset upsert -f")
def dataset_file(c: Case) -> None:
    path = c.folder() / "dataset.yaml"
    path.write_text(f"- id: {c.name}.a\n  platform: hive\n  env: PROD\n  description: from a file\n")
    c.cli("dataset", "upsert", "-f", str(path))
    expect(c.doors.aspect(c.dataset("a"), "datasetProperties")["description"], "from a file")
