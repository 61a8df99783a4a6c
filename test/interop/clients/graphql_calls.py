"""GraphQL by DataHubGraph.execute_graphql, as scripts send it; and DataHub's own documents."""

from importlib import resources

from datahub.emitter.mcp import MetadataChangeProposalWrapper as Proposal
from datahub.metadata import schema_classes as m

from emitter_calls import upstreams
from graph_calls import chain
from suite import Case, GRAPHQL, call, expect, expect_error, refused

CLIENT = "DataHubGraph.execute_graphql"


def ask(c: Case, document: str, **variables) -> dict:
    return c.graph().execute_graphql(document, variables=variables)


def make_domain(c: Case, name: str, **more) -> str:
    return ask(c, "mutation create($input: CreateDomainInput!) { createDomain(input: $input) }", input={"name": f"{c.name} {name}", "id": f"{c.name} {name}", **more})["createDomain"]


# --- domains


@call(CLIENT, "createDomain, domain, with an id of several words", GRAPHQL)
def create(c: Case) -> None:
    urn = make_domain(c, "a", description="about")
    expect(urn, f"urn:li:domain:{c.name} a")
    found = ask(c, "query ($urn: String!) { domain(urn: $urn) { urn id properties { name description createdOn { time actor { urn } } } parentDomains { count } } }", urn=urn)["domain"]
    expect((found["id"], found["properties"]["name"], found["properties"]["description"], found["parentDomains"]["count"]), (f"{c.name} a", f"{c.name} a", "about", 0))
    expect(c.doors.aspect(urn, "domainProperties")["description"], "about")


@call(CLIENT, "createDomain below a parent, listDomains, parentDomains", GRAPHQL)
def tree(c: Case) -> None:
    parent = make_domain(c, "parent")
    children = [make_domain(c, name, parentDomain=parent) for name in ["b", "c"]]
    found = ask(c, "query ($input: ListDomainsInput!) { listDomains(input: $input) { start count total domains { urn parentDomains { domains { urn } } } } }", input={"parentDomain": parent, "start": 0, "count": 10})["listDomains"]
    expect({domain["urn"]: [above["urn"] for above in domain["parentDomains"]["domains"]] for domain in found["domains"]}, {child: [parent] for child in children})
    expect(found["total"], 2)


@call(CLIENT, "moveDomain, updateName, updateDescription, deleteDomain", GRAPHQL)
def manage(c: Case) -> None:
    first, second = make_domain(c, "first"), make_domain(c, "second")
    ask(c, "mutation ($input: MoveDomainInput!) { moveDomain(input: $input) }", input={"resourceUrn": second, "parentDomain": first})
    ask(c, "mutation ($input: UpdateNameInput!) { updateName(input: $input) }", input={"urn": second, "name": f"{c.name} renamed"})
    ask(c, "mutation ($input: DescriptionUpdateInput!) { updateDescription(input: $input) }", input={"resourceUrn": second, "description": "told"})
    found = c.doors.aspect(second, "domainProperties")
    expect((found["name"], found["description"], found["parentDomain"]), (f"{c.name} renamed", "told", first))
    expect_error(lambda: ask(c, "mutation ($urn: String!) { deleteDomain(urn: $urn) }", urn=first), "GraphError", "child domains")
    for urn in [second, first]:
        expect(ask(c, "mutation ($urn: String!) { deleteDomain(urn: $urn) }", urn=urn), {"deleteDomain": True})
    expect(c.doors.exists(first), False)


@call(CLIENT, "setDomain, unsetDomain, batchSetDomain, dataset.domain", GRAPHQL)
def assets(c: Case) -> None:
    domain, urns = make_domain(c, "d"), [c.dataset("a"), c.dataset("b")]
    c.describe(*urns)
    query = "query ($urn: String!) { dataset(urn: $urn) { domain { associatedUrn domain { urn properties { name } } } } }"
    expect(ask(c, "mutation ($e: String!, $d: String!) { setDomain(entityUrn: $e, domainUrn: $d) }", e=urns[0], d=domain), {"setDomain": True})
    expect(ask(c, query, urn=urns[0])["dataset"]["domain"], {"associatedUrn": urns[0], "domain": {"urn": domain, "properties": {"name": f"{c.name} d"}}})
    expect(c.graph().get_domain(urns[0]).domains, [domain])
    ask(c, "mutation ($e: String!) { unsetDomain(entityUrn: $e) }", e=urns[0])
    expect(ask(c, query, urn=urns[0])["dataset"]["domain"], None)
    batch = "mutation ($input: BatchSetDomainInput!) { batchSetDomain(input: $input) }"
    ask(c, batch, input={"domainUrn": domain, "resources": [{"resourceUrn": urn} for urn in urns]})
    expect([c.doors.domain_of(urn) for urn in urns], [domain, domain])
    ask(c, batch, input={"domainUrn": None, "resources": [{"resourceUrn": urns[0]}]})
    expect([c.doors.domain_of(urn) for urn in urns], [None, domain])


@call(CLIENT, "Domain.entities, Domain.relationships", GRAPHQL)
def members(c: Case) -> None:
    domain, child, urn = make_domain(c, "d"), None, c.dataset("a")
    child = make_domain(c, "child", parentDomain=domain)
    c.describe(urn)
    c.write(urn, m.DomainsClass(domains=[domain]))
    found = ask(c, """query ($urn: String!) { domain(urn: $urn) {
        entities(input: { query: "*", start: 0, count: 10 }) { total searchResults { entity { urn type } } }
        relationships(input: { types: ["IsPartOf"], direction: INCOMING, start: 0, count: 10 }) { total relationships { type entity { urn } } } } }""", urn=domain)["domain"]
    expect(found["entities"], {"total": 1, "searchResults": [{"entity": {"urn": urn, "type": "DATASET"}}]})
    expect(found["relationships"], {"total": 1, "relationships": [{"type": "IsPartOf", "entity": {"urn": child}}]})


@call(CLIENT, "Container.entities, parentContainers", GRAPHQL)
def containers(c: Case) -> None:
    outer, inner = (f"urn:li:container:{c.name}.{name}" for name in ["outer", "inner"])
    urn = c.dataset("a")
    c.write(outer, m.ContainerPropertiesClass(name="outer"))
    c.write(inner, m.ContainerClass(container=outer))
    c.write(urn, m.ContainerClass(container=inner))
    found = ask(c, """query ($inner: String!, $urn: String!) {
        container(urn: $inner) { entities(input: { query: "*", start: 0, count: 10 }) { total searchResults { entity { urn type } } } }
        dataset(urn: $urn) { parentContainers { count containers { urn } } } }""", inner=inner, urn=urn)
    expect(found["container"]["entities"], {"total": 1, "searchResults": [{"entity": {"urn": urn, "type": "DATASET"}}]})
    expect(found["dataset"]["parentContainers"], {"count": 2, "containers": [{"urn": inner}, {"urn": outer}]})


@call(CLIENT, "DataProcessInstance.properties, Chart.inputFields", GRAPHQL)
def run_and_columns(c: Case) -> None:
    run, source = f"urn:li:dataProcessInstance:{c.name}", c.column(c.dataset("a"), "x")
    c.describe(c.dataset("a"))
    c.write(c.chart("one"), m.StatusClass(removed=False))
    c.write(run, m.DataProcessInstancePropertiesClass(name="nightly", created=m.AuditStampClass(time=5, actor="urn:li:corpuser:jo")))
    field = m.SchemaFieldClass(fieldPath="total", type=m.SchemaFieldDataTypeClass(type=m.NumberTypeClass()), nativeDataType="int")
    c.write(c.chart("one"), m.InputFieldsClass(fields=[m.InputFieldClass(schemaFieldUrn=source, schemaField=field)]))
    found = ask(c, """query ($run: String!, $chart: String!) {
        dataProcessInstance(urn: $run) { properties { name created { time actor } } }
        chart(urn: $chart) { inputFields { fields { schemaFieldUrn schemaField { fieldPath } } } } }""", run=run, chart=c.chart("one"))
    expect(found["dataProcessInstance"]["properties"], {"name": "nightly", "created": {"time": 5, "actor": "urn:li:corpuser:jo"}})
    expect(found["chart"]["inputFields"]["fields"], [{"schemaFieldUrn": source, "schemaField": {"fieldPath": "total"}}])


@refused(CLIENT, "createDomain of a name that a sibling has", GRAPHQL, result="GraphError, CONFLICT: `\"…\" already exists in this domain. Please pick a unique name.`")
def conflict(c: Case) -> None:
    make_domain(c, "a")
    expect_error(lambda: make_domain(c, "a", id=f"{c.name} other"), "GraphError", "Please pick a unique name.", "'code': 409")


@refused(CLIENT, "setDomain with a domain that does not exist", GRAPHQL, result="GraphError, BAD_REQUEST: `Failed to add Entity … to Domain …. Domain does not exist.`")
def no_domain(c: Case) -> None:
    c.describe(c.dataset("a"))
    expect_error(lambda: ask(c, "mutation ($e: String!, $d: String!) { setDomain(entityUrn: $e, domainUrn: $d) }", e=c.dataset("a"), d=c.domain("none")), "GraphError", "Domain does not exist.", "'code': 400")


@refused(CLIENT, "createDomain below a parent that does not exist", GRAPHQL, result="GraphError, BAD_REQUEST: `Parent Domain does not exist!`")
def no_parent(c: Case) -> None:
    expect_error(lambda: make_domain(c, "a", parentDomain=c.domain("none")), "GraphError", "Parent Domain does not exist!")


# --- lineage


@call(CLIENT, "updateLineage: edges as a list, one edge without a list, removal", GRAPHQL)
def update_lineage(c: Case) -> None:
    a, b, end = c.dataset("a"), c.dataset("b"), c.dataset("c")
    c.describe(a, b, end)
    mutation = "mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }"
    edge = lambda up, down: {"upstreamUrn": up, "downstreamUrn": down}
    expect(ask(c, mutation, input={"edgesToAdd": [edge(a, end), edge(b, end)], "edgesToRemove": []}), {"updateLineage": True})
    expect(c.doors.upstream(end), {a, b})
    expect({entry["dataset"] for entry in c.doors.aspect(end, "upstreamLineage")["upstreams"]}, {a, b})
    ask(c, mutation, input={"edgesToAdd": edge(a, b), "edgesToRemove": edge(b, end)})
    expect((c.doors.upstream(b), c.doors.upstream(end)), ({a}, {a}))


@call(CLIENT, "updateLineage of jobs, charts and dashboards", GRAPHQL)
def update_all(c: Case) -> None:
    source, target, job, chart, dashboard = c.dataset("source"), c.dataset("target"), c.job("j"), c.chart("c"), c.dashboard("d")
    c.describe(source, target, job, chart, dashboard)
    pairs = [(source, job), (job, target), (target, chart), (chart, dashboard)]
    ask(c, "mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }", input={"edgesToAdd": [{"upstreamUrn": up, "downstreamUrn": down} for up, down in pairs], "edgesToRemove": []})
    expect(c.doors.lineage(source, "downstream"), {job: 1, target: 2, chart: 3, dashboard: 4})
    expect([edge["destinationUrn"] for edge in c.doors.aspect(job, "dataJobInputOutput")["inputDatasetEdges"]], [source])


@refused(CLIENT, "updateLineage to an absent entity", GRAPHQL, result="GraphError, BAD_REQUEST: `Cannot upsert lineage as downstream urn … doesn't exist`")
def update_absent(c: Case) -> None:
    c.describe(c.dataset("a"))
    change = {"edgesToAdd": [{"upstreamUrn": c.dataset("a"), "downstreamUrn": c.dataset("none")}], "edgesToRemove": []}
    expect_error(lambda: ask(c, "mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }", input=change), "GraphError", "Cannot upsert lineage as downstream urn", "'code': 400")


@refused(CLIENT, "updateLineage of a dataset to a dashboard's chart, the wrong way round", GRAPHQL, result="GraphError, BAD_REQUEST that names both types; DataHub answers true and does nothing")
def update_unknown_pair(c: Case) -> None:
    c.describe(c.chart("c"), c.dataset("a"))
    change = {"edgesToAdd": [{"upstreamUrn": c.chart("c"), "downstreamUrn": c.dataset("a")}], "edgesToRemove": []}
    expect_error(lambda: ask(c, "mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }", input=change), "GraphError", "chart", "dataset")


SCROLL = """query scrollAcrossLineage($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) {
  nextScrollId count total facets { field displayName aggregations { value count } } freshness { cached systemFreshness { systemName } } isPartial
  searchResults { degree degrees explored truncatedChildren ignoredAsHop matchedFields { name value } entity { urn type } paths { path { urn type } } } } }"""


def scroll(c: Case, **more) -> dict:
    return ask(c, SCROLL, input={"query": "*", "count": 100, "direction": "DOWNSTREAM", **more})["scrollAcrossLineage"]


def degrees(found: dict) -> dict:
    return {result["entity"]["urn"]: result["degree"] for result in found["searchResults"]}


def by_degree(*values: str, **more) -> dict:
    return {"orFilters": [{"and": [{"condition": "EQUAL", "negated": False, "field": "degree", "values": list(values)}], **more}]}


@call(CLIENT, "scrollAcrossLineage: degrees 1, 2 and 3+", GRAPHQL)
def scroll_degrees(c: Case) -> None:
    urns = chain(c, *"abcdef")
    find = lambda *values: sorted(degrees(scroll(c, urn=urns[0], **by_degree(*values))).values())
    expect([find("1"), find("2"), find("3+"), find("1", "3+"), find("1", "2", "3+")], [[1], [2], [3, 4, 5], [1, 3, 4, 5], [1, 2, 3, 4, 5]])


@call(CLIENT, "scrollAcrossLineage: pages, paths, facets, flags", GRAPHQL)
def scroll_pages(c: Case) -> None:
    urns = chain(c, *"abcd")
    found, scroll_id = {}, None
    while True:
        page = scroll(c, urn=urns[0], count=1, scrollId=scroll_id, keepAlive="5m", searchFlags={"skipCache": True, "skipHighlighting": True}, lineageFlags={"startTimeMillis": None, "endTimeMillis": None, "ignoreAsHops": []})
        found.update({result["entity"]["urn"]: [step["urn"] for step in result["paths"][0]["path"]] for result in page["searchResults"]})
        scroll_id = page["nextScrollId"]
        if scroll_id is None:
            break
    expect(found, {urn: urns[:index + 1] for index, urn in enumerate(urns) if index > 0})
    expect((page["total"], page["isPartial"], [facet["field"] for facet in page["facets"]][0]), (3, False, "degree"))


@call(CLIENT, "scrollAcrossLineage over an edge that names a query", GRAPHQL, result="the path has the two ends; DataHub has the query between them")
def scroll_via(c: Case) -> None:
    a, b, query = c.dataset("a"), c.dataset("b"), f"urn:li:query:{c.name}"
    c.describe(a)
    c.write(b, m.UpstreamLineageClass(upstreams=[m.UpstreamClass(dataset=a, type="TRANSFORMED", query=query)]))
    [result] = scroll(c, urn=a)["searchResults"]
    expect((result["entity"]["urn"], [step["urn"] for step in result["paths"][0]["path"]]), (b, [a, b]))


@call(CLIENT, "scrollAcrossLineage: startTimeMillis, endTimeMillis", GRAPHQL)
def scroll_time(c: Case) -> None:
    a, old, new = c.dataset("a"), c.dataset("old"), c.dataset("new")
    c.describe(a)
    stamp = lambda time: m.AuditStampClass(time=time, actor="urn:li:corpuser:a")
    for urn, time in [(old, 1_600_000_000_000), (new, 1_700_000_000_000)]:
        c.write(urn, m.UpstreamLineageClass(upstreams=[m.UpstreamClass(dataset=a, type="COPY", auditStamp=stamp(time), created=stamp(time))]))
    expect(set(degrees(scroll(c, urn=a, startTimeMillis=1_650_000_000_000))), {new})
    expect(set(degrees(scroll(c, urn=a, startTimeMillis=1_500_000_000_000, endTimeMillis=1_650_000_000_000))), {old})
    expect(set(degrees(scroll(c, urn=a))), {old, new})


@call(CLIENT, "scrollAcrossLineage: several groups, negated filters, types", GRAPHQL)
def scroll_filters(c: Case) -> None:
    a, hive, postgres, job = c.dataset("a"), c.dataset("h"), c.dataset("p", platform="postgres"), c.job("j")
    c.describe(a)
    for down in [hive, postgres]:
        c.write(down, upstreams(a))
    c.write(job, m.DataJobInputOutputClass(inputDatasets=[a], outputDatasets=[]))
    rule = lambda field, *values, negated=False: {"field": field, "values": list(values), "negated": negated, "condition": "EQUAL"}
    find = lambda *groups, **more: set(degrees(scroll(c, urn=a, orFilters=[{"and": list(group)} for group in groups], **more)))
    expect(find([rule("platform", "urn:li:dataPlatform:postgres")], [rule("_entityType", "DATA_JOB")]), {postgres, job})
    expect(find([rule("platform", "urn:li:dataPlatform:postgres", negated=True), rule("degree", "1")]), {hive, job})
    expect(find(types=["DATASET"]), {hive, postgres})


@call(CLIENT, "searchAcrossLineage: start, count, filters, groupingSpec", GRAPHQL)
def search_lineage(c: Case) -> None:
    urns = chain(c, *"abcd")
    query = "query ($input: SearchAcrossLineageInput!) { searchAcrossLineage(input: $input) { start count total lineageSearchPath searchResults { degree entity { urn } } } }"
    found = ask(c, query, input={"urn": urns[0], "direction": "DOWNSTREAM", "query": "*", "start": 1, "count": 1, "filters": [{"field": "degree", "values": ["1", "2", "3+"]}]})["searchAcrossLineage"]
    expect((found["start"], found["count"], found["total"], [result["entity"]["urn"] for result in found["searchResults"]]), (1, 1, 3, [urns[2]]))
    up, down = c.dataset("up"), c.dataset("down")
    c.describe(up, down)
    c.client().lineage.add_lineage(upstream=up, downstream=down, column_lineage={"y": ["x"]})
    expect((set(c.doors.lineage(c.column(up, "x"), "downstream", columns=True)), set(c.doors.lineage(c.column(up, "x"), "downstream"))), ({c.column(down, "y")}, {down}))


@call(CLIENT, "lineage(input) of every type of asset, with filtered neighbours", GRAPHQL)
def neighbours(c: Case) -> None:
    source, job, chart, dashboard = c.dataset("source"), c.job("j"), c.chart("c"), c.dashboard("d")
    c.describe(source)
    c.write(job, m.DataJobInputOutputClass(inputDatasets=[source, c.dataset("placeholder")], outputDatasets=[]))
    c.write(chart, m.ChartInfoClass(title="c", description="", lastModified=m.ChangeAuditStampsClass(), inputs=[source]))
    c.write(dashboard, m.DashboardInfoClass(title="d", description="", lastModified=m.ChangeAuditStampsClass(), charts=[chart]))
    fields = "lineage(input: { direction: UPSTREAM, start: 0, count: 10, separateSiblings: true }) { start count total filtered relationships { type degree entity { urn } isManual createdOn updatedOn paths { path { urn } } } }"
    found = {name: ask(c, f"query ($urn: String!) {{ {name}(urn: $urn) {{ {fields} }} }}", urn=urn)[name]["lineage"] for name, urn in [("dataset", source), ("dataJob", job), ("chart", chart), ("dashboard", dashboard)]}
    expect({name: [(edge["type"], edge["entity"]["urn"]) for edge in lineage["relationships"]] for name, lineage in found.items()}, {"dataset": [], "dataJob": [("Consumes", source)], "chart": [("Consumes", source)], "dashboard": [("Contains", chart)]})
    expect(found["dataJob"]["filtered"], 1)


@refused(CLIENT, "scrollAcrossLineage without a URN", GRAPHQL, result="GraphError, BAD_REQUEST: `URN must not be null or empty`")
def scroll_blank(c: Case) -> None:
    expect_error(lambda: scroll(c, urn=""), "GraphError", "URN must not be null or empty", "'code': 400")


@refused(CLIENT, "scrollAcrossLineage with the degree 4", GRAPHQL, result="GraphError, BAD_REQUEST that lists the degrees")
def scroll_bad_degree(c: Case) -> None:
    c.describe(c.dataset("a"))
    expect_error(lambda: scroll(c, urn=c.dataset("a"), **by_degree("4")), "GraphError", "'code': 400")


@refused(CLIENT, "scrollAcrossLineage from an absent entity", GRAPHQL, result="GraphError, NOT_FOUND; DataHub finds nothing")
def scroll_absent(c: Case) -> None:
    expect_error(lambda: scroll(c, urn=c.dataset("never")), "GraphError", "does not exist", "'code': 404")


# --- entities, search, tokens


@call(CLIENT, "entity, entities, entityExists", GRAPHQL)
def entities(c: Case) -> None:
    urn, absent = c.dataset("a"), c.dataset("never")
    c.describe(urn)
    found = ask(c, "query ($u: String!, $us: [String!]!) { entity(urn: $u) { urn type } entities(urns: $us, checkForExistence: true) { urn } a: entityExists(urn: $u) }", u=urn, us=[urn, absent])
    expect(found, {"entity": {"urn": urn, "type": "DATASET"}, "entities": [{"urn": urn}, None], "a": True})


@call(CLIENT, "dataset, dataJob, dataFlow, chart, dashboard, container, mlModel, mlFeature, tag, glossaryTerm, dataPlatform, corpUser, versionedDataset", GRAPHQL)
def every_type(c: Case) -> None:
    urns = {
        "dataset": c.dataset("a"), "dataJob": c.job("j"), "dataFlow": c.flow(), "chart": c.chart("c"), "dashboard": c.dashboard("d"), "container": f"urn:li:container:{c.name}",
        "mlModel": f"urn:li:mlModel:(urn:li:dataPlatform:mlflow,{c.name},PROD)", "mlModelGroup": f"urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,{c.name},PROD)",
        "mlFeature": f"urn:li:mlFeature:({c.name},f)", "mlFeatureTable": f"urn:li:mlFeatureTable:(urn:li:dataPlatform:feast,{c.name})", "mlPrimaryKey": f"urn:li:mlPrimaryKey:({c.name},k)",
        "dataProcessInstance": f"urn:li:dataProcessInstance:{c.name}", "notebook": f"urn:li:notebook:(jupyter,{c.name})", "glossaryTerm": f"urn:li:glossaryTerm:{c.name}", "tag": f"urn:li:tag:{c.name}",
        "corpUser": f"urn:li:corpuser:{c.name}", "dataPlatform": f"urn:li:dataPlatform:{c.name}"
    }
    c.describe(*urns.values())
    for name, urn in [*urns.items(), ("versionedDataset", urns["dataset"])]:
        expect(ask(c, f"query ($urn: String!) {{ {name}(urn: $urn) {{ urn type }} }}", urn=urn)[name]["urn"], urn, name)


@call(CLIENT, "search, searchAcrossEntities, scrollAcrossEntities, autoComplete", GRAPHQL)
def search(c: Case) -> None:
    word = c.name.replace(".", "").replace("_", "")
    urns = {c.dataset(name) for name in "abc"}
    for urn in urns:
        c.write(urn, m.DatasetPropertiesClass(name=f"{word} table"))
    results = "total searchResults { entity { urn } matchedFields { name value } } facets { field aggregations { value count } }"
    found = ask(c, f"""query ($query: String!) {{
        search(input: {{ type: DATASET, query: $query, start: 0, count: 10 }}) {{ start count {results} }}
        searchAcrossEntities(input: {{ types: [], query: $query, start: 0, count: 10 }}) {{ start count {results} }}
        scrollAcrossEntities(input: {{ query: $query, count: 10 }}) {{ nextScrollId count {results} }}
        autoComplete(input: {{ type: DATASET, query: $query, limit: 5 }}) {{ query suggestions entities {{ urn }} }} }}""", query=word)
    for name in ["search", "searchAcrossEntities", "scrollAcrossEntities"]:
        expect((found[name]["total"], {result["entity"]["urn"] for result in found[name]["searchResults"]}), (3, urns), name)
    expect({entity["urn"] for entity in found["autoComplete"]["entities"]}, urns)


@call(CLIENT, "me, appConfig", GRAPHQL)
def session(c: Case) -> None:
    found = ask(c, "{ me { corpUser { urn username } platformPrivileges { createDomains manageDomains manageTokens generatePersonalAccessTokens } } appConfig { appVersion telemetryConfig { enableThirdPartyLogging } } }")
    expect(found["me"]["platformPrivileges"], {"createDomains": True, "manageDomains": True, "manageTokens": True, "generatePersonalAccessTokens": True})
    expect(found["appConfig"]["telemetryConfig"], {"enableThirdPartyLogging": False})


@call(CLIENT, "createAccessToken, listAccessTokens, revokeAccessToken", GRAPHQL)
def tokens(c: Case) -> None:
    actor = f"urn:li:corpuser:{c.name}"
    made = ask(c, "mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken metadata { id name description actorUrn expiresAt } } }", input={"type": "PERSONAL", "actorUrn": actor, "duration": "ONE_DAY", "name": c.name, "description": "for a row"})["createAccessToken"]
    theirs = c.graph(token=made["accessToken"])
    theirs.emit(Proposal(entityUrn=c.dataset("a"), aspect=m.StatusClass()))
    expect((c.doors.exists(c.dataset("a")), theirs.execute_graphql("{ me { corpUser { urn } } }")["me"]["corpUser"]["urn"]), (True, actor))
    listed = ask(c, "query ($input: ListAccessTokenInput!) { listAccessTokens(input: $input) { total tokens { urn type id name description actorUrn ownerUrn createdAt expiresAt } } }", input={"start": 0, "count": 10, "filters": [{"field": "actorUrn", "values": [actor]}]})["listAccessTokens"]
    expect((listed["total"], listed["tokens"][0]["id"]), (1, made["metadata"]["id"]))
    ask(c, "mutation ($id: String!) { revokeAccessToken(tokenId: $id) }", id=made["metadata"]["id"])
    c.eventually(lambda: "401" in str(try_exists(theirs, c.dataset("a"))), True)


def try_exists(graph, urn: str) -> object:
    try:
        return graph.exists(urn)
    except Exception as error:
        return error


@call(CLIENT, "strip_unsupported_fields=True", GRAPHQL)
def strip(c: Case) -> None:
    c.describe(c.dataset("a"))
    found = c.graph().execute_graphql("query ($urn: String!) { dataset(urn: $urn) { urn health { status } ... on Nothing { urn } } }", variables={"urn": c.dataset("a")}, strip_unsupported_fields=True)
    expect(found["dataset"]["urn"], c.dataset("a"))


@call(CLIENT, "the whole introspection, and __type of one type", GRAPHQL)
def introspection(c: Case) -> None:
    from graphql import build_client_schema, get_introspection_query

    schema = build_client_schema(c.graph().execute_graphql(get_introspection_query()))
    expect("scrollAcrossLineage" in schema.query_type.fields, True)
    expect("skipCache" in [field["name"] for field in ask(c, '{ __type(name: "SearchFlags") { inputFields { name } } }')["__type"]["inputFields"]], True)


@call(CLIENT, "DataHub's own documents of `datahub search`, with nothing stripped", GRAPHQL)
def own_documents(c: Case) -> None:
    word = c.name.replace(".", "").replace("_", "")
    c.write(c.dataset("a"), m.DatasetPropertiesClass(name=word))
    folder = resources.files("datahub.cli.gql")
    document = "\n".join((folder / name).read_text() for name in ["search.gql", "fragments.gql"])
    found = c.graph().execute_graphql(document, variables={"query": word, "count": 10, "start": 0})
    expect([result["entity"]["urn"] for result in found["searchAcrossEntities"]["searchResults"]], [c.dataset("a")])
