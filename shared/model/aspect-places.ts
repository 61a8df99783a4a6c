/** Which aspects each entity type may have: as in DataHub, except where Tributary decides otherwise. */
import { dataHubEntities } from './datahub-model.ts'

/** A column has no domain of its own: it is in the domain of its asset. */
const refusedPlaces: readonly (readonly [entityType: string, aspectName: string])[] = [
  ['schemaField', 'domains']
]

const isRefused = (entityType: string, aspectName: string): boolean =>
  refusedPlaces.some(([type, name]) => type === entityType && name === aspectName)

const aspectsByType = new Map(
  dataHubEntities.map(({ name, aspects }) => [
    name,
    aspects.filter((aspectName) => !isRefused(name, aspectName))
  ])
)

const typesByAspect = new Map<string, string[]>()
for (const [name, aspects] of aspectsByType)
  for (const aspectName of aspects)
    typesByAspect.set(aspectName, [...(typesByAspect.get(aspectName) ?? []), name])

/** The aspects of an entity type, without its key aspect; empty for a type that DataHub does not have. */
export const aspectsOfType = (entityType: string): readonly string[] => aspectsByType.get(entityType) ?? []

/** The entity types that may have an aspect. */
export const typesOfAspect = (aspectName: string): readonly string[] => typesByAspect.get(aspectName) ?? []
