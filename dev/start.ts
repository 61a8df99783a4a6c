/** `npm start`: the whole catalog in one process, with a database of its own where none is given. */
import { nodeVersionProblem } from '../shared/platform/node-version.ts'

const problem = nodeVersionProblem()
if (problem !== null) {
  console.error(problem)
  process.exit(1)
}

// not imported above: an old Node could not even read it
const { startEverything } = await import('./start-everything.ts')
const { describeFailure } = await import('../bin/describe-failure.ts')
const { outliveReaders } = await import('../bin/terminal.ts')
const { endWithNpm, shellOfNpm } = await import('./end-with-npm.ts')

outliveReaders()
const shell = shellOfNpm()
try {
  await startEverything(process.env, (line) => console.log(line))
  endWithNpm(shell)
} catch (error) {
  const { message, exitCode } = describeFailure(error)
  console.error(message)
  process.exit(exitCode)
}
