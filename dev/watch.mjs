/** `npm run dev`: builds sources when they are saved, and restarts everything. */
import { spawn, spawnSync } from 'node:child_process'
import { watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** An editor saves several files at once. */
const settleMs = 100

let settling
function build() {
  spawnSync(process.execPath, [join(root, 'dev', 'build.mjs')], { stdio: 'inherit' })
}
for (const folder of ['api', 'worker', 'shared', 'migrations', 'bin', 'dev', 'web'])
  watch(join(root, folder), { recursive: true }, () => {
    clearTimeout(settling)
    settling = setTimeout(build, settleMs)
  })

// Ctrl-C reaches the child too, and start ends in order: wait for it
process.on('SIGINT', () => {})
const start = join(root, 'dist', 'dev', 'start.js')
spawn(process.execPath, ['--watch', '--watch-preserve-output', '--enable-source-maps', start], {
  cwd: root,
  stdio: 'inherit'
}).on('exit', (code) => process.exit(code ?? 1))
