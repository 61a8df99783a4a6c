/**
 * Thrown if a chunk refers to an entity that an older, unfinished load may still create, or compares
 * statements that an older load of its source may still change. The chunk is put back and tried again.
 */
export class WaitForOlderLoad extends Error {
  constructor() {
    super('an older load has to be finished first')
    this.name = 'WaitForOlderLoad'
  }
}
