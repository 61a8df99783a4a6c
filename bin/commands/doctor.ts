/** `tributary doctor`: checks everything that a running catalog needs, and says what is wrong. */
import { readConfig, type Config } from '../../shared/platform/config.ts'
import { paint } from '../colour.ts'
import type { Command } from '../command.ts'
import { examineApi } from '../doctor/examine-api.ts'
import { examineDatabase } from '../doctor/examine-database.ts'
import { examineSessions } from '../doctor/examine-sessions.ts'
import { examineQueue } from '../doctor/examine-queue.ts'
import { fine, wrong, type Finding } from '../doctor/finding.ts'
import { asCalled } from '../as-called.ts'
import { describeFailure } from '../describe-failure.ts'
import { exitCodes } from '../failure.ts'
import { withCatalogDatabase } from '../open-database.ts'
import { printable } from '../printable.ts'

const marks = { fine: 'ok   ', note: 'note ', wrong: 'WRONG' } as const
const colours = { fine: 'green', note: 'cyan', wrong: 'red' } as const

export const doctor: Command = {
  examples: ['tributary doctor', 'DATABASE_URL=postgres://catalog@db/catalog tributary doctor --json'],
  options: { json: { help: 'Print each finding as one line of JSON.' } },
  async run(input, terminal) {
    const config = readConfig(terminal.env)
    const findings = [
      fine('node', `is ${process.versions.node}`),
      fine('configuration', 'can be used'),
      ...(await examineDatabaseOf(config)),
      ...(await examineQueue(config)),
      ...(await examineApi(config))
    ]
    for (const finding of findings)
      terminal.out(
        input.isSet('json')
          ? JSON.stringify(finding)
          : `${paint(marks[finding.verdict], colours[finding.verdict], terminal.colours.out)}  ${finding.check}: ${printable(asCalled(finding.text, terminal.command))}`
      )
    return findings.some(({ verdict }) => verdict === 'wrong') ? exitCodes.refused : exitCodes.ok
  }
}

async function examineDatabaseOf(config: Config): Promise<Finding[]> {
  try {
    return await withCatalogDatabase(config, async (db, url) => [
      ...(await examineDatabase(db, url, { queueInPostgres: config.redisUrl === null })),
      ...(await examineSessions(url))
    ])
  } catch (error) {
    return [wrong('database', describeFailure(error).message)]
  }
}
