/**
 * Thrown when a chunk refers to what an older, unfinished load may still create, or compares what an older
 * load of its source may still state. The chunk is handed back and tried again.
 */
export class WaitForOlderLoad extends Error {
  constructor() {
    super('an older load has to be finished first')
    this.name = 'WaitForOlderLoad'
  }
}
