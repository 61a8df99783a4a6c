"""Calls of DataHubClient.lineage."""

from datahub.metadata import schema_classes as m
from datahub.sdk import FilterDsl as F

from emitter_calls import schema, stamps
from graph_calls import chain
from suite import Case, GRAPHQL, call, expect, expect_error, refused

CLIENT = "DataHubClient.lineage"


@call(CLIENT, "add_lineage(dataset to dataset)")
def datasets(c: Case) -> None:
    up, down = c.dataset("up"), c.dataset("down")
    c.describe(up, down)
    c.client().lineage.add_lineage(upstream=up, downstream=down)
    expect(c.doors.upstream(down), {up})
    expect(c.doors.aspect(down, "upstreamLineage")["upstreams"][0]["type"], "COPY")


@call(CLIENT, "add_lineage(dataset to dataset, column_lineage={...})")
def columns(c: Case) -> None:
    up, down = c.dataset("up"), c.dataset("down")
    c.describe(up, down)
    c.client().lineage.add_lineage(upstream=up, downstream=down, column_lineage={"x": ["a", "b"], "y": ["a"]})
    expect(c.doors.upstream_columns(c.column(down, "x")), {c.column(up, "a"), c.column(up, "b")})
    expect(c.doors.upstream_columns(c.column(down, "y")), {c.column(up, "a")})


@call(CLIENT, "add_lineage(dataset to dataset, column_lineage='auto_strict'), 'auto_fuzzy', True")
def auto_columns(c: Case) -> None:
    up = c.dataset("up")
    c.write(up, schema("amount", "customer_id", "shipping_address"))
    for mode, wanted in [("auto_strict", {"amount"}), ("auto_fuzzy", {"amount", "shipping_address"}), (True, {"amount", "shipping_address"})]:
        down = c.dataset(f"down {mode}")
        c.write(down, schema("amount", "shipping_adress"))
        c.client().lineage.add_lineage(upstream=up, downstream=down, column_lineage=mode)
        found = {path for field in ["amount", "shipping_adress"] for path in c.doors.upstream_columns(c.column(down, field))}
        expect(found, {c.column(up, path) for path in wanted}, str(mode))


@call(CLIENT, "add_lineage(dataset to dataset, transformation_text=...)")
def transformation(c: Case) -> None:
    up, down = c.dataset("up"), c.dataset("down")
    c.describe(up, down)
    c.client().lineage.add_lineage(upstream=up, downstream=down, column_lineage={"x": ["a"]}, transformation_text="insert into down select a as x from up")
    [read] = c.doors.aspect(down, "upstreamLineage")["upstreams"]
    expect((read["dataset"], read["type"]), (up, "TRANSFORMED"))
    expect(c.doors.aspect(read["query"], "queryProperties")["statement"]["value"], "insert into down select a as x from up")


def pair(c: Case, upstream: str, downstream: str) -> None:
    c.describe(upstream, downstream)
    c.client().lineage.add_lineage(upstream=upstream, downstream=downstream)
    expect(c.doors.upstream(downstream), {upstream})


@call(CLIENT, "add_lineage(dataset to data job), (data job to data job), (data job to dataset)")
def jobs(c: Case) -> None:
    pair(c, c.dataset("in"), c.job("first"))
    pair(c, c.job("first"), c.job("second"))
    pair(c, c.job("second"), c.dataset("out"))
    expect(c.doors.lineage(c.dataset("in"), "downstream"), {c.job("first"): 1, c.job("second"): 2, c.dataset("out"): 3})


@call(CLIENT, "add_lineage(dataset to chart)")
def charts(c: Case) -> None:
    c.write(c.chart("c"), m.ChartInfoClass(title="t", description="", lastModified=stamps()))
    pair(c, c.dataset("a"), c.chart("c"))


@call(CLIENT, "add_lineage(dataset, chart or dashboard to dashboard)")
def dashboards(c: Case) -> None:
    down = c.dashboard("down")
    ups = [c.dataset("a"), c.chart("c"), c.dashboard("d")]
    c.describe(down, *ups)
    for up in ups:
        c.client().lineage.add_lineage(upstream=up, downstream=down)
    expect(c.doors.upstream(down), set(ups))


@refused(CLIENT, "add_lineage(chart to dataset)", GRAPHQL, result="SdkUsageError, of the client itself")
def unknown_pair(c: Case) -> None:
    expect_error(lambda: c.client().lineage.add_lineage(upstream=c.chart("c"), downstream=c.dataset("a")), "SdkUsageError")


@refused(CLIENT, "add_lineage() to an absent entity", result="SdkUsageError, of the client itself")
def absent_downstream(c: Case) -> None:
    expect_error(lambda: c.client().lineage.add_lineage(upstream=c.dataset("a"), downstream=c.dataset("b")), "SdkUsageError", "does not exist")


@call(CLIENT, "add_dataset_copy_lineage(), add_dataset_transform_lineage(), add_datajob_lineage(), the older ways")
def older(c: Case) -> None:
    up, copy, transformed, job = c.dataset("up"), c.dataset("copy"), c.dataset("transformed"), c.job("j")
    c.describe(up, copy, transformed, job)
    lineage = c.client().lineage
    lineage.add_dataset_copy_lineage(upstream=up, downstream=copy, column_lineage=None)
    lineage.add_dataset_transform_lineage(upstream=up, downstream=transformed, transformation_text="select 1")
    lineage.add_datajob_lineage(datajob=job, upstreams=[up], downstreams=[c.dataset("out")])
    expect(c.doors.lineage(up, "downstream"), {copy: 1, transformed: 1, job: 1, c.dataset("out"): 2})


@call(CLIENT, "infer_lineage_from_sql()")
def infer(c: Case) -> None:
    name = lambda text: f"{c.name.replace('.', '_').lower()}_{text}"
    urn = lambda text: f"urn:li:dataset:(urn:li:dataPlatform:postgres,db.public.{name(text)},PROD)"
    for text, fields in [("orders", ["id", "amount"]), ("customers", ["id", "name"]), ("report", ["name", "total"])]:
        c.write(urn(text), schema(*fields))
    sql = f"insert into {name('report')} select c.name as name, sum(o.amount) as total from {name('orders')} o join {name('customers')} c on o.id = c.id group by c.name"
    c.client().lineage.infer_lineage_from_sql(query_text=sql, platform="postgres", default_db="db", default_schema="public")
    expect(c.doors.upstream(urn("report")), {urn("orders"), urn("customers")})
    expect(c.doors.upstream_columns(c.column(urn("report"), "total")), {c.column(urn("orders"), "amount")})


def hops(results) -> dict:
    return {result.urn: result.hops for result in results}


@call(CLIENT, "get_lineage(max_hops=1), 2, 3", GRAPHQL)
def get_hops(c: Case) -> None:
    urns = chain(c, "a", "b", "c", "d", "e")
    find = lambda count: hops(c.client().lineage.get_lineage(source_urn=urns[0], direction="downstream", max_hops=count))
    expect([len(find(count)) for count in [1, 2, 3]], [1, 2, 4])
    expect(find(3), {urn: degree for degree, urn in enumerate(urns) if degree > 0})
    expect(hops(c.client().lineage.get_lineage(source_urn=urns[4])), {urns[3]: 1}, "upstream is the default")


@call(CLIENT, "get_lineage(), the facts about each result", GRAPHQL)
def get_described(c: Case) -> None:
    up, down, job = c.dataset("up"), c.dataset("down"), c.job("j")
    c.write(down, m.DatasetPropertiesClass(name="Down", description="what it is"))
    c.write(job, m.DataJobInfoClass(name="a job", type="COMMAND"))
    c.write(job, m.DataJobInputOutputClass(inputDatasets=[up], outputDatasets=[down]))
    c.describe(up)
    found = {result.urn: (result.type, result.hops, result.direction, result.platform, result.name or "") for result in c.client().lineage.get_lineage(source_urn=up, direction="downstream", max_hops=2)}
    expect(found, {job: ("DATA_JOB", 1, "downstream", "airflow", "a job"), down: ("DATASET", 2, "downstream", "hive", "")})


@call(CLIENT, "get_lineage(count=...)", GRAPHQL, result="works; it is the size of a page")
def get_pages(c: Case) -> None:
    up = c.dataset("up")
    c.emitter().emit_mcps([proposal(c, up, number) for number in range(25)])
    expect(len(c.client().lineage.get_lineage(source_urn=up, direction="downstream", count=10)), 25)


def proposal(c: Case, up: str, number: int):
    from datahub.emitter.mcp import MetadataChangeProposalWrapper

    from emitter_calls import upstreams

    return MetadataChangeProposalWrapper(entityUrn=c.dataset(f"d{number}"), aspect=upstreams(up))


@call(CLIENT, "get_lineage(filter=entity_type, platform, env, and_, or_, not_)", GRAPHQL)
def get_filtered(c: Case) -> None:
    up, hive, postgres, dev, job = c.dataset("up"), c.dataset("h"), c.dataset("p", platform="postgres"), c.dataset("d", env="DEV"), c.job("j")
    for down in [hive, postgres, dev]:
        c.write(down, m.UpstreamLineageClass(upstreams=[m.UpstreamClass(dataset=up, type="COPY")]))
    c.write(job, m.DataJobInputOutputClass(inputDatasets=[up], outputDatasets=[]))
    find = lambda wanted: set(hops(c.client().lineage.get_lineage(source_urn=up, direction="downstream", filter=wanted)))
    expect(find(F.platform("postgres")), {postgres})
    expect(find(F.env("DEV")), {dev})
    expect(find(F.entity_type("dataJob")), {job})
    expect(find(F.and_(F.entity_type("dataset"), F.platform("hive"))), {hive, dev})
    expect(find(F.or_(F.platform("postgres"), F.env("DEV"))), {postgres, dev})
    expect(find(F.and_(F.platform(["hive", "postgres"]), F.not_(F.platform("postgres")))), {hive, dev})


@call(CLIENT, "get_lineage(filter=domain, tag, owner, has_custom_property, soft_deleted)", GRAPHQL)
def get_filtered_more(c: Case) -> None:
    from datahub.ingestion.graph.filters import RemovedStatusFilter

    [up, *downs] = [c.dataset(name) for name in ["up", "domain", "tag", "owner", "property", "removed"]]
    domain = c.domain("d")
    c.write(domain, m.DomainPropertiesClass(name=c.name))
    for down in downs:
        c.write(down, m.UpstreamLineageClass(upstreams=[m.UpstreamClass(dataset=up, type="COPY")]))
    in_domain, tagged, owned, with_property, removed = downs
    c.write(in_domain, m.DomainsClass(domains=[domain]))
    c.write(tagged, m.GlobalTagsClass(tags=[m.TagAssociationClass(tag="urn:li:tag:x")]))
    c.write(owned, m.OwnershipClass(owners=[m.OwnerClass(owner="urn:li:corpuser:a", type="DATAOWNER")]))
    c.write(with_property, m.DatasetPropertiesClass(customProperties={"k": "v"}))
    c.write(removed, m.StatusClass(removed=True))
    find = lambda wanted: set(hops(c.client().lineage.get_lineage(source_urn=up, direction="downstream", filter=wanted)))
    expect([find(wanted) for wanted in [F.domain(domain), F.tag("urn:li:tag:x"), F.owner("urn:li:corpuser:a"), F.has_custom_property("k", "v")]], [{in_domain}, {tagged}, {owned}, {with_property}])
    expect(find(F.soft_deleted(RemovedStatusFilter.ONLY_SOFT_DELETED)), {removed})


@call(CLIENT, "get_lineage(source_column=...), get_lineage(a schemaField URN)", GRAPHQL, result="the datasets, each with its path of columns")
def get_columns(c: Case) -> None:
    a, b, end = (c.dataset(name) for name in "abc")
    c.describe(a, b, end)
    lineage = c.client().lineage
    lineage.add_lineage(upstream=a, downstream=b, column_lineage={"y": ["x"]})
    lineage.add_lineage(upstream=b, downstream=end, column_lineage={"z": ["y"]})
    for asked in [{"source_urn": a, "source_column": "x"}, {"source_urn": c.column(a, "x")}]:
        found = {result.urn: (result.type, result.hops, [(path.urn, path.column_name) for path in result.paths]) for result in lineage.get_lineage(direction="downstream", max_hops=3, **asked)}
        first, second, third = (c.column(a, "x"), "x"), (c.column(b, "y"), "y"), (c.column(end, "z"), "z")
        expect(found, {b: ("DATASET", 1, [first, second]), end: ("DATASET", 2, [first, second, third])})


@refused(CLIENT, "get_lineage() of an absent entity", GRAPHQL, result="GraphError, NOT_FOUND; DataHub finds nothing")
def get_absent(c: Case) -> None:
    expect_error(lambda: c.client().lineage.get_lineage(source_urn=c.dataset("never")), "GraphError", "does not exist")
