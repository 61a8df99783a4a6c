"""Renders the Helm chart of a folder, with Helm itself, for each set of values on standard input; prints the manifests or the error of each."""

import json
import sys

import helm_python


def rendered(chart, values):
    try:
        return {"manifests": chart.render(values, name="demo", namespace="prod")}
    except helm_python.HelmError as error:
        return {"error": str(error)}


with helm_python.Chart.load(sys.argv[1]) as chart:
    print(json.dumps([rendered(chart, values) for values in json.load(sys.stdin)]))
