/**
 * Thrown when a chunk refers to what an older, unfinished load may still create, or compares what an older one of its
 * source may still state: it is to be handed back and tried again.
 */
export class WaitForOlderLoad extends Error {
  constructor() {
    super('an older load has to be finished first')
    this.name = 'WaitForOlderLoad'
  }
}
