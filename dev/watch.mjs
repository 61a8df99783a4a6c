/** `npm run dev`: compiles sources when they are saved, and restarts everything. Ends when either of its two processes ends. */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

function run(...args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })
  child.on('exit', (code) => {
    for (const other of children) other.kill('SIGINT')
    process.exitCode ||= code ?? 1
  })
  return child
}

// Ctrl-C reaches the children too, and start ends in order: wait for them
process.on('SIGINT', () => {})

const children = [
  run(
    join(root, 'node_modules', 'typescript-7', 'bin', 'tsc'),
    '-p',
    root,
    '--watch',
    '--preserveWatchOutput'
  ),
  run('--watch', '--watch-preserve-output', '--enable-source-maps', join(root, 'dist', 'dev', 'start.js'))
]
