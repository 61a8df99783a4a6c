/** `tributary work`: a worker as a separate process, on DATABASE_URL. The Procfile's `worker`. */
import { letHeapGrow } from '../../worker/heap-growth.ts'
import { startWorker } from '../../worker/start.ts'
import type { Command } from '../command.ts'
import { runService } from '../run-service.ts'

export const work: Command = {
  examples: ['DATABASE_URL=postgres://catalog@db/catalog tributary work'],
  options: {},
  run: (_input, terminal) => {
    letHeapGrow()
    return runService('work', startWorker, terminal)
  }
}
