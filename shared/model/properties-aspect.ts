/** Where `upsertEntity` writes a name and a description: the properties aspect of each entity type. */

export type PropertiesAspect = { aspectName: string; nameField: string }

const named = new Map<string, PropertiesAspect>(
  Object.entries({
    dataset: { aspectName: 'datasetProperties', nameField: 'name' },
    dataJob: { aspectName: 'dataJobInfo', nameField: 'name' },
    dataFlow: { aspectName: 'dataFlowInfo', nameField: 'name' },
    chart: { aspectName: 'chartInfo', nameField: 'title' },
    dashboard: { aspectName: 'dashboardInfo', nameField: 'title' },
    domain: { aspectName: 'domainProperties', nameField: 'name' },
    tag: { aspectName: 'tagProperties', nameField: 'name' },
    glossaryTerm: { aspectName: 'glossaryTermInfo', nameField: 'name' }
  })
)

/** `<type>Properties` with `name`, unless the type has an aspect with another name. */
export const propertiesAspectOf = (entityType: string): PropertiesAspect =>
  named.get(entityType) ?? { aspectName: `${entityType}Properties`, nameField: 'name' }
