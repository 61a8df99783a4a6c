"""check-recipes.py RECIPE...: reads each recipe with the configuration class of its connector. Needs no network."""

import sys

import yaml
from datahub.ingestion.source.source_registry import source_registry

for path in sys.argv[1:]:
    with open(path) as file:
        source = yaml.safe_load(file)["source"]
    config = source_registry.get(source["type"]).get_config_class().model_validate(source["config"])
    unknown = set(source["config"]) - set(type(config).model_fields)
    print(f"{path}: {type(config).__name__}, unknown: {sorted(unknown)}")
