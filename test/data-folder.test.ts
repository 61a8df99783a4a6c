/** Where a test run keeps its data. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makeDataFolder } from './support/data-folder.ts'

/** No process has a number this high: 4,194,304 is the most of Linux, 99,999 of macOS. */
const deadPid = 4_194_305

t.test('a run starts beside what killed runs left', async (t) => {
  const base = mkdtempSync(join(tmpdir(), 'data-folders-'))
  const locked = join(base, `tributary-test-${deadPid}-locked`, 'pg')
  const plain = join(base, `tributary-test-${deadPid}-plain`)
  const live = join(base, `tributary-test-${process.pid}-live`)
  for (const folder of [locked, plain, live]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'file'), '')
  }
  chmodSync(locked, 0o500)
  t.teardown(() => {
    if (existsSync(locked)) chmodSync(locked, 0o700)
    rmSync(base, { recursive: true })
  })

  t.ok(existsSync(makeDataFolder(base)), 'also where another user left something that nobody else may remove')
  t.notOk(existsSync(plain), 'and removes what it may')
  t.ok(existsSync(live), 'but nothing of a run that goes on')
})
