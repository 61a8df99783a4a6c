/** Gives entities with equal facts the same class, and each class a number. */
import type { EntityClass } from './lineage-reader.ts'

export type ClassTable = {
  classOf: (facts: Omit<EntityClass, 'index'>) => EntityClass
  /** Throws for an index without a class. */
  at: (index: number) => EntityClass
}

export function createClassTable(): ClassTable {
  const classes: EntityClass[] = []
  const byFacts = new Map<string, EntityClass>()
  return {
    classOf(facts) {
      const key = [
        facts.entityType,
        facts.platformUrn ?? '',
        facts.origin ?? '',
        facts.exists,
        facts.isRemoved,
        facts.domainId ?? ''
      ].join('\n')
      const known = byFacts.get(key)
      if (known) return known
      const made = { index: classes.length, ...facts }
      classes.push(made)
      byFacts.set(key, made)
      return made
    },
    at(index) {
      const found = classes[index]
      if (!found) throw new Error(`no class has the index ${index}`)
      return found
    }
  }
}
