/** Starts everything, and says why if it cannot. Imported once the version of Node.js is known to do. */
import { asCalled } from '../bin/as-called.ts'
import { describeFailure } from '../bin/describe-failure.ts'
import { ownCommand } from '../bin/own-command.ts'
import { ignoreClosedPipes } from '../bin/terminal.ts'
import { endWithNpm, shellOfNpm } from './end-with-npm.ts'
import { startEverything } from './start-everything.ts'

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
