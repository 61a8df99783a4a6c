import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { describeFailure } from '../bin/describe-failure.ts'
import { exitCodes } from '../bin/failure.ts'
import { withFolder } from './support/program.ts'

const errorOf = (act: () => unknown): unknown => {
  try {
    act()
    return null
  } catch (error) {
    return error
  }
}

t.test('a file that cannot be used is named, and is not called the database', async (t) => {
  const folder = withFolder(t)
  const [file, missing] = [join(folder, 'file'), join(folder, 'none', 'file')]
  writeFileSync(file, '')
  for (const act of [() => readFileSync(missing), () => mkdirSync(join(file, 'data'))]) {
    const { message, exitCode } = describeFailure(errorOf(act))
    t.match(message, /^(ENOENT|ENOTDIR): .*, (open|mkdir) '[^']+'$/)
    t.equal(exitCode, exitCodes.config)
  }
  const socket = connect({ path: missing })
  const [error]: unknown[] = await once(socket, 'connect').catch((error: unknown) => [error])
  t.match(describeFailure(error).message, /^The database does not answer: .*ENOENT/, 'a socket is')
})
