/** `npm start`: the whole catalog in one process, with an embedded database unless DATABASE_URL is set. */
import { nodeVersionProblem } from '../shared/platform/node-version.ts'

const problem = nodeVersionProblem()
if (problem !== null) {
  console.error(problem)
  process.exit(1)
}

// neither imported statically nor awaited, because an old Node could not even parse it
void import('./main.ts')
