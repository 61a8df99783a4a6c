/** Texts for people, held as files, so that a change of what they see is seen in a review. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Test } from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'

/** Compares with test/rendered/NAME.txt. WRITE_RENDERED=1 writes the file first. Escapes are written as `\e`. */
export function matchesFile(t: Test, name: string, lines: readonly string[]): void {
  const path = packagePath(`test/rendered/${name}.txt`)
  const text = `${lines.join('\n').replaceAll('\u001B', '\\e')}\n`
  if (process.env.WRITE_RENDERED === '1') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  t.equal(text, existsSync(path) ? readFileSync(path, 'utf8') : '', `test/rendered/${name}.txt`)
}
