/** Reads entities with the requested aspects. Includes placeholders about which something is stated. */
import type { Db } from '../../db/database.ts'
import { checkCount } from '../../model/count-checks.ts'
import { entityTypeInfo } from '../../model/entity-types.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import { readAspect, readAspects, type AspectView } from './read-aspects.ts'

/** `isPresent`: something has described the entity. A placeholder may have lineage. */
export type EntityView = {
  urn: Urn
  isPresent: boolean
  isRemoved: boolean
  aspects: Map<string, AspectView>
}

/**
 * In the order of the URNs, each once. Entities that neither exist nor have one of the aspects are left out.
 * If `names` is null, reads all aspects. Throws LIMIT_EXCEEDED (aspectsPerReadMaxCount).
 */
export async function readEntities(
  db: Db,
  urns: readonly Urn[],
  names: readonly string[] | null
): Promise<EntityView[]> {
  checkAspectNames(names)
  const wanted = [...new Set(urns)]
  const keys = wanted.map(keyAspectOf)
  const found = await readAspects(
    db,
    wanted,
    names === null ? null : [...new Set([...names, ...keys, 'status'])]
  )
  return wanted.flatMap((urn, index) => {
    const views = found.get(urn)
    if (!views) return []
    const isPresent = views.has(keys[index] ?? '')
    const aspects = names === null ? views : new Map([...views].filter(([name]) => names.includes(name)))
    if (!isPresent && aspects.size === 0) return []
    return [{ urn, isPresent, isRemoved: views.get('status')?.value.removed === true, aspects }]
  })
}

/** The aspects requested of one entity, by name: the newest (null) or a version. */
export type AspectsWanted = { urn: Urn; aspects: ReadonlyMap<string, number | null> }

/**
 * Like readEntities, with versions. An aspect whose requested version is not stored is left out. Without
 * aspect names, reads all.
 */
export async function readEntityVersions(db: Db, questions: readonly AspectsWanted[]): Promise<EntityView[]> {
  const isAll = questions.some(({ aspects }) => aspects.size === 0)
  const names = isAll ? null : [...new Set(questions.flatMap(({ aspects }) => [...aspects.keys()]))]
  const views = new Map(
    (
      await readEntities(
        db,
        questions.map(({ urn }) => urn),
        names
      )
    ).map((view) => [view.urn, view])
  )
  const answers: EntityView[] = []
  for (const { urn, aspects } of questions) {
    const view = views.get(urn)
    if (!view) continue
    answers.push(aspects.size === 0 ? view : { ...view, aspects: await versionsOf(db, view, aspects) })
  }
  return answers
}

async function versionsOf(
  db: Db,
  view: EntityView,
  wanted: ReadonlyMap<string, number | null>
): Promise<Map<string, AspectView>> {
  const found = new Map<string, AspectView>()
  for (const [name, version] of wanted) {
    const current = view.aspects.get(name)
    const aspect =
      version === null || version === 0 || current?.version === version
        ? current
        : await readAspect(db, view.urn, name, version)
    if (aspect) found.set(name, aspect)
  }
  return found
}

/** Each name is looked up for each entity. Throws LIMIT_EXCEEDED (aspectsPerReadMaxCount). */
export function checkAspectNames(names: readonly string[] | null): void {
  if (names)
    checkCount(names.length, 'aspectsPerReadMaxCount', {
      field: 'aspects',
      what: `${names.length} different aspects in one request`
    })
}

const keyAspectOf = (urn: Urn): string => entityTypeInfo(entityTypeOf(urn)).keyAspect
