/** `npm start`: the whole catalog in one process, with an embedded database unless DATABASE_URL is set. */
import { nodeVersionProblem } from '../shared/platform/node-version.ts'

const problem = nodeVersionProblem()
if (problem !== null) {
  console.error(problem)
  process.exit(1)
}

// not imported statically, because an old Node could not even parse it
const { startEverything } = await import('./start-everything.ts')
const { describeFailure } = await import('../bin/describe-failure.ts')
const { asCalled } = await import('../bin/as-called.ts')
const { ownCommand } = await import('../bin/own-command.ts')
const { ignoreClosedPipes } = await import('../bin/terminal.ts')
const { endWithNpm, shellOfNpm } = await import('./end-with-npm.ts')

ignoreClosedPipes()
const shell = shellOfNpm()
try {
  await startEverything(process.env, (line) => console.log(line))
  endWithNpm(shell)
} catch (error) {
  const { message, exitCode } = describeFailure(error)
  console.error(asCalled(message, ownCommand(process.env)))
  process.exit(exitCode)
}
