"""Every aspect of every entity type of the client's schema: least and full documents, written and read back."""

import keyword
from typing import Any, Dict, Iterator, List, Optional, Tuple

from datahub.emitter.mcp import MetadataChangeProposalWrapper as Proposal
from datahub.metadata import _internal_schema_classes as generated
from datahub.metadata import schema_classes as m

from suite import Case, call, expect, expect_error, refused

CLIENT = "DataHubGraph"
CLASSES = {cls.RECORD_SCHEMA.fullname: cls for cls in vars(generated).values() if hasattr(cls, "RECORD_SCHEMA")}
DEEPEST = 6

URNS = {
    "dataset": "urn:li:dataset:(urn:li:dataPlatform:hive,{},PROD)",
    "schemaField": "urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:hive,{},PROD),a)",
    "dataFlow": "urn:li:dataFlow:(airflow,{},PROD)",
    "dataJob": "urn:li:dataJob:(urn:li:dataFlow:(airflow,{},PROD),a)",
    "dataPlatformInstance": "urn:li:dataPlatformInstance:(urn:li:dataPlatform:hive,{})",
}


def urn_of(entity_type: str, name: str) -> str:
    """With as many parts as the key of the type has."""
    if entity_type in URNS:
        return URNS[entity_type].format(name)
    fields = m.KEY_ASPECTS[entity_type].RECORD_SCHEMA.fields if entity_type in m.KEY_ASPECTS else []
    if len(fields) < 2:
        return f"urn:li:{entity_type}:{name}"
    parts = {"platform": "urn:li:dataPlatform:hive", "origin": "PROD", "entityType": "dataset"}
    return f"urn:li:{entity_type}:({','.join(parts.get(field.name, name) for field in fields)})"


class Maker:
    """Makes values of Avro schemas: with all that is optional, or without. What is within itself ends at the second time."""

    def __init__(self, is_full: bool, name: str) -> None:
        self.is_full = is_full
        self.name = name

    def record(self, schema: Any, said: Any = None, within: Tuple[str, ...] = ()) -> Any:
        """`said` is what a field around the record says of fields in it."""
        fields = {field.name: field for field in schema.fields}
        if "fieldDiscriminator" in fields:
            # The one field of several that is there.
            wanted = {"fieldDiscriminator", fields["fieldDiscriminator"].type.symbols[0]}
        else:
            wanted = {name for name, field in fields.items() if not field.has_default or (self.is_full and len(within) < DEEPEST)}
        values = {name: self.value(field.type, {**types_below(said, name), **field.other_props}, name, (*within, schema.fullname)) for name, field in fields.items() if name in wanted}
        # The classes call a field that Python keeps for itself by another name.
        return CLASSES[schema.fullname](**{f"{name}_" if keyword.iskeyword(name) else name: value for name, value in values.items() if value is not None})

    def value(self, schema: Any, said: Dict[str, Any], name: str, within: Tuple[str, ...]) -> Any:
        kind = schema.type
        if kind == "union":
            members = [member for member in schema.schemas if member.type != "null" and (member.type != "record" or member.fullname not in within)]
            return self.value(members[0], said, name, within) if members else None
        if kind == "record":
            return self.record(schema, said.get("Relationship"), within)
        if kind == "array":
            if not self.is_full or (schema.items.type == "record" and schema.items.fullname in within):
                return []
            return [self.value(schema.items, said, name, within)]
        if kind == "map":
            return {"k": self.value(schema.values, said, name, within)} if self.is_full else {}
        if kind == "enum":
            return schema.symbols[0]
        if kind == "string":
            return self.text(said, name)
        return {"boolean": True, "int": 7, "long": 7_000_000_000, "float": 0.5, "double": 0.25, "bytes": b"bytes"}[kind]

    def text(self, said: Dict[str, Any], name: str) -> str:
        """A URN of a type that the field may have, where it is one."""
        types = said.get("entityTypes") or next(iter(entity_types_in(said.get("Relationship"))), None)
        if types:
            return urn_of(types[0], self.name)
        wanted = said.get("Urn") or said.get("java", {}).get("class", "").rsplit(".", 1)[-1]
        if not wanted.endswith("Urn"):
            return "a text"
        # A URN of any type is one of what its field is called after, or of a user.
        named = wanted[: -len("Urn")] or name
        entity_type = next((each for each in generated.ENTITY_TYPE_NAMES if each.lower() == named.lower()), "corpuser")
        return urn_of(entity_type, self.name)


def types_below(relationship: Any, name: str) -> Dict[str, Any]:
    """What an annotation by paths (`/*/destinationUrn`) says of a field with that name."""
    found = [inner["entityTypes"] for path, inner in (relationship or {}).items() if path.startswith("/") and path.endswith(f"/{name}")]
    return {"entityTypes": found[0]} if found else {}


def entity_types_in(relationship: Any) -> Iterator[List[str]]:
    if isinstance(relationship, dict):
        if isinstance(relationship.get("entityTypes"), list):
            yield relationship["entityTypes"]
        for inner in relationship.values():
            yield from entity_types_in(inner)


def read(c: Case, graph: Any, urn: str, aspect: Any) -> Optional[Any]:
    """Over the transport that the row is about; what is an event in time has one way only."""
    if aspect.get_aspect_type() == "timeseries":
        return graph.get_latest_timeseries_value(urn, type(aspect), {})
    if c.transport == "openapi":
        found = graph.get_entities(urn.split(":")[2], [urn], [aspect.ASPECT_NAME])
        return found[urn][aspect.ASPECT_NAME][0]
    return graph.get_aspect(urn, type(aspect))


def told(aspect: Any) -> Dict[str, Any]:
    """What an aspect says. A domain is read back with its association, also where none was written."""
    said = aspect.to_obj()
    return {name: value for name, value in said.items() if aspect.ASPECT_NAME != "domains" or name != "domainAssociations" or value}


# The client takes the URN's own part of that name for its entity type, and looks for the key of a dataset.
EXISTS_MISTAKEN = {"versionSet"}
REFUSED = {("schemaField", "domains")}


@call(CLIENT, "emit(), get_aspect(), get_entities(), exists() of every aspect and key of every entity type, each with little and with everything", result="read back equal; an empty `domains` has `domainAssociations` too; exists() of a versionSet is False by the client's own mistake")
def every_aspect(c: Case) -> None:
    graph = c.graph()
    emitter = c.emitter()
    c.write(urn_of("domain", c.name), m.DomainPropertiesClass(name=c.name))
    wrong = []

    def check(urn: str, aspect: Any, title: str) -> None:
        try:
            emitter.emit_mcp(Proposal(entityUrn=urn, aspect=aspect))
            found = read(c, graph, urn, aspect)
            if found is None or told(found) != told(aspect):
                wrong.append(f"{title}: {told(aspect)} is read back as {found and told(found)}")
        except Exception as error:
            wrong.append(f"{title}: {type(error).__name__}: {str(error)[:400]}")

    for entity_type, names in sorted(generated.ENTITY_TYPE_TO_ASPECT_NAMES.items()):
        for kind in ["little", "full"]:
            urn = urn_of(entity_type, f"{c.name}.{kind}")
            emitter.emit_mcp(Proposal(entityUrn=urn, aspect=m.StatusClass(removed=False)))
            key = graph.get_aspect(urn, m.KEY_ASPECTS[entity_type])
            if key is None or (not graph.exists(urn) and entity_type not in EXISTS_MISTAKEN):
                wrong.append(f"{entity_type} does not exist")
            else:
                check(urn, key, f"the key of {entity_type}")
            maker = Maker(kind == "full", c.name)
            for name in names:
                if (entity_type, name) not in REFUSED:
                    check(urn, maker.record(m.ASPECT_NAME_MAP[name].RECORD_SCHEMA), f"{entity_type}.{name}, {kind}")
    expect("\n".join(wrong), "")


@refused(CLIENT, "emit(domains) of a schemaField", result="422: a column is in the domain of its asset")
def domain_of_column(c: Case) -> None:
    c.write(c.domain("d"), m.DomainPropertiesClass(name=c.name))
    column = c.column(c.dataset("t"), "a")
    expect_error(lambda: c.emitter().emit_mcp(Proposal(entityUrn=column, aspect=m.DomainsClass(domains=[c.domain("d")]))), "Unknown aspect domains for entity schemaField")
