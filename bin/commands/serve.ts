/** `tributary serve`: the API as a separate process, on DATABASE_URL. The Procfile's `web`. */
import { startApi } from '../../api/start.ts'
import type { Command } from '../command.ts'
import { runService } from '../run-service.ts'

export const serve: Command = {
  examples: ['DATABASE_URL=postgres://catalog@db/catalog tributary serve'],
  options: {},
  run: (_input, terminal) => runService('serve', startApi, terminal)
}
