"""Calls of DataHubClient.search and DataHubClient.resolve."""

from datahub.ingestion.graph.filters import RemovedStatusFilter
from datahub.metadata import schema_classes as m
from datahub.sdk import FilterDsl as F

from suite import Case, GRAPHQL, RESTLI, call, expect, expect_error, refused

CLIENT, RESOLVE = "DataHubClient.search", "DataHubClient.resolve"


def word(c: Case) -> str:
    """A word that nothing else in the catalog has."""
    return c.name.replace(".", "").replace("_", "")


def find(c: Case, *asked, **more) -> set:
    return {str(urn) for urn in c.client().search.get_urns(*asked, **more)}


def some(c: Case) -> dict:
    urns = {"hive": c.dataset("h"), "postgres": c.dataset("p", platform="postgres"), "dev": c.dataset("d", env="DEV")}
    for name, urn in urns.items():
        c.write(urn, m.DatasetPropertiesClass(name=f"{word(c)} {name}", description="told of", customProperties={"suite": c.name}))
    return urns


@call(CLIENT, "get_urns(query)", GRAPHQL)
def by_text(c: Case) -> None:
    urns = some(c)
    expect(find(c, word(c)), set(urns.values()))
    expect(find(c, f"{word(c)} postgres"), {urns["postgres"]})
    expect(find(c, f"no{word(c)}"), set())


@call(CLIENT, "get_urns() sees what was just written", GRAPHQL)
def fresh(c: Case) -> None:
    for number in range(5):
        c.write(c.dataset(f"d{number}"), m.DatasetPropertiesClass(name=word(c)))
        expect(len(find(c, word(c))), number + 1)


@call(CLIENT, "get_urns(filter=platform, env, entity_type, has_custom_property)", GRAPHQL)
def by_filter(c: Case) -> None:
    urns = some(c)
    own = F.has_custom_property("suite", c.name)
    expect(find(c, filter=own), set(urns.values()))
    expect(find(c, filter=F.and_(own, F.platform("postgres"))), {urns["postgres"]})
    expect(find(c, filter=F.and_(own, F.env("DEV"))), {urns["dev"]})
    expect(find(c, filter=F.and_(own, F.not_(F.platform("postgres")))), {urns["hive"], urns["dev"]})
    expect(find(c, filter=F.and_(own, F.entity_type("dataJob"))), set())
    expect(find(c, filter=F.or_(F.and_(own, F.env("DEV")), F.and_(own, F.platform("postgres")))), {urns["dev"], urns["postgres"]})


@call(CLIENT, "get_urns(filter=domain, tag, owner, glossary_term, container, entity_subtype)", GRAPHQL)
def by_association(c: Case) -> None:
    urns = some(c)
    domain, container = c.domain("d"), f"urn:li:container:{c.name}"
    tag, term, owner = f"urn:li:tag:{c.name}", f"urn:li:glossaryTerm:{c.name}", f"urn:li:corpuser:{c.name}"
    c.write(domain, m.DomainPropertiesClass(name=c.name))
    c.describe(container)
    c.write(urns["hive"], m.DomainsClass(domains=[domain]))
    c.write(urns["hive"], m.GlobalTagsClass(tags=[m.TagAssociationClass(tag=tag)]))
    c.write(urns["postgres"], m.OwnershipClass(owners=[m.OwnerClass(owner=owner, type="DATAOWNER")]))
    c.write(urns["postgres"], m.GlossaryTermsClass(terms=[m.GlossaryTermAssociationClass(urn=term)], auditStamp=m.AuditStampClass(time=1, actor=owner)))
    c.write(urns["dev"], m.ContainerClass(container=container))
    c.write(urns["dev"], m.SubTypesClass(typeNames=[c.name]))
    wanted = [(F.domain(domain), "hive"), (F.tag(tag), "hive"), (F.owner(owner), "postgres"), (F.glossary_term(term), "postgres"), (F.container(container, direct_descendants_only=True), "dev"), (F.entity_subtype(c.name), "dev")]
    for chosen, name in wanted:
        expect(find(c, filter=chosen), {urns[name]}, str(chosen))


@call(CLIENT, "get_urns(filter=container), with everything in the containers below", GRAPHQL, result="works, by the containers as they are now")
def by_container(c: Case) -> None:
    urns = some(c)
    outer, inner = (f"urn:li:container:{c.name}.{name}" for name in ["outer", "inner"])
    c.write(inner, m.ContainerClass(container=outer))
    c.write(urns["dev"], m.ContainerClass(container=inner))
    c.write(urns["hive"], m.ContainerClass(container=outer))
    expect(find(c, filter=F.container(outer)), {urns["dev"], urns["hive"], inner})
    expect(find(c, filter=F.container(inner)), {urns["dev"]})


@call(CLIENT, "get_urns(filter=soft_deleted)", GRAPHQL)
def by_status(c: Case) -> None:
    urns = some(c)
    c.write(urns["dev"], m.StatusClass(removed=True))
    own = F.has_custom_property("suite", c.name)
    expect(find(c, filter=own), {urns["hive"], urns["postgres"]})
    expect(find(c, filter=F.and_(own, F.soft_deleted(RemovedStatusFilter.ONLY_SOFT_DELETED))), {urns["dev"]})


@call(RESOLVE, "domain(name=...)", RESTLI)
def domain(c: Case) -> None:
    c.write(c.domain("d"), m.DomainPropertiesClass(name=f"{c.name} name"))
    expect(str(c.client().resolve.domain(name=f"{c.name} name")), c.domain("d"))


@call(RESOLVE, "term(name=...)", GRAPHQL)
def term(c: Case) -> None:
    urn = f"urn:li:glossaryTerm:{c.name}"
    c.write(urn, m.GlossaryTermInfoClass(name=f"{c.name} name", definition="", termSource="INTERNAL"))
    expect(str(c.client().resolve.term(name=f"{c.name} name")), urn)


@refused(RESOLVE, "domain(name=...) of a name that no domain has", RESTLI, result="ItemNotFoundError")
def no_domain(c: Case) -> None:
    expect_error(lambda: c.client().resolve.domain(name=f"{c.name} none"), "ItemNotFoundError")
