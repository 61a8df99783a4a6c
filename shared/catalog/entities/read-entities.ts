/** Reads entities with the aspects asked for: those that exist, and placeholders of which something is stated all the same. */
import type { Db } from '../../db/database.ts'
import { checkCount } from '../../model/count-checks.ts'
import { entityTypeInfo } from '../../model/entity-types.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import { readAspect, readAspects, type AspectView } from './read-aspects.ts'

/** `isPresent`: something has described it; a placeholder may still have lineage. */
export type EntityView = {
  urn: Urn
  isPresent: boolean
  isRemoved: boolean
  aspects: Map<string, AspectView>
}

/** In the order of the URNs, each once; those that neither exist nor have one of the aspects are left out. `names` null reads all aspects. Throws LIMIT_EXCEEDED (aspectsPerReadMaxCount). */
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

/** What is asked of one entity: aspects by name, each the newest (null) or of a version. */
export type AspectsWanted = { urn: Urn; aspects: ReadonlyMap<string, number | null> }

/** As readEntities, with versions: an aspect that is not kept in the version asked for is left out. No aspects named: all. */
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

/** Each name is looked for of each entity. Throws LIMIT_EXCEEDED (aspectsPerReadMaxCount). */
export function checkAspectNames(names: readonly string[] | null): void {
  if (names)
    checkCount(names.length, 'aspectsPerReadMaxCount', {
      field: 'aspects',
      what: `${names.length} different aspects in one request`
    })
}

const keyAspectOf = (urn: Urn): string => entityTypeInfo(entityTypeOf(urn)).keyAspect
