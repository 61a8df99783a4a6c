/** Thrown when a chunk refers to what an older, unfinished load may still create: it is to be handed back and tried again. */
export class WaitForOlderLoad extends Error {
  constructor() {
    super('a reference may yet be created by an older load')
    this.name = 'WaitForOlderLoad'
  }
}
