/** Reads the snippets of a guide, and runs those for the shell. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { packagePath } from '../../shared/platform/paths.ts'

/** The snippets in a language, in order. */
export const snippetsOf = (guide: string, language: string): string[] =>
  [
    ...readFileSync(packagePath(`docs/guides/${guide}.md`), 'utf8').matchAll(
      new RegExp(`^ *\`\`\`${language}\\n([^]*?)^ *\`\`\``, 'gm')
    )
  ].map(([, block = '']) => block.replaceAll(/^ {3}(?=\S)/gm, ''))

/** Runs a shell script, which ends at its first error. Its output is shown if it failed. */
export function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<number | null> {
  return new Promise((resolve, reject) => {
    let said = ''
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe']
    })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        said += String(part)
      })
    child.on('error', reject).on('close', (code) => {
      if (code !== 0) console.log(said)
      resolve(code)
    })
  })
}
