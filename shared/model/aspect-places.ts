/** Which aspects may be on which entity types: as DataHub has it, except for what Tributary decides otherwise. */
import { dataHubEntities } from './datahub-model.ts'

/** A column is in the domain of its asset, and in none of its own. */
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

/** The aspects of an entity type, its key aside; none of a type that DataHub does not have. */
export const aspectsOfType = (entityType: string): readonly string[] => aspectsByType.get(entityType) ?? []

/** The entity types that may have an aspect. */
export const typesOfAspect = (aspectName: string): readonly string[] => typesByAspect.get(aspectName) ?? []
