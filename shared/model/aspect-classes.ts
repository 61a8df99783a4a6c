/**
 * Class names of aspects: their values are wrapped in them when they are read, and legacy snapshots use them.
 *
 * These are DataHub's names. An aspect that DataHub does not have gets a class derived from its name.
 */
import { dataHubClasses, dataHubTimeseriesAspects } from './datahub-model.ts'

/** The class of each of DataHub's aspects, by the name of the aspect. Includes key aspects. */
export const aspectClasses: ReadonlyMap<string, string> = new Map(
  Object.entries(dataHubClasses).flatMap(([namespace, classes]) =>
    Object.entries(classes).map(([aspectName, name]): [string, string] => [
      aspectName,
      `${namespace}.${name}`
    ])
  )
)

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** The class name of an unknown aspect. */
export const derivedClass = (aspectName: string): string => `com.linkedin.common.${capitalised(aspectName)}`

/**
 * The aspect name of an unknown class: its last segment, with the leading capitals in lower case
 * (MLModelFactors: mlModelFactors).
 */
export const derivedAspectName = (className: string): string => {
  const name = className.slice(className.lastIndexOf('.') + 1)
  let capitals = 0
  while (capitals < name.length && name.charAt(capitals) !== name.charAt(capitals).toLowerCase())
    capitals += 1
  const lowered = capitals > 1 && capitals < name.length ? capitals - 1 : capitals
  return name.slice(0, lowered).toLowerCase() + name.slice(lowered)
}

/** Aspects that consist of events. Each event is kept, by its timestamp. */
export const timeseriesAspects: ReadonlySet<string> = new Set(dataHubTimeseriesAspects)
