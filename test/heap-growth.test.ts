import { spawnSync } from 'node:child_process'
import t from 'tap'

t.test('this V8 knows the growth of its heap that a worker asks for', async (t) => {
  const module = new URL('../worker/heap-growth.js', import.meta.url).href
  // V8 reports an unknown flag on stderr, and continues without it.
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `
    const { letHeapGrow } = await import(${JSON.stringify(module)})
    letHeapGrow()
    console.log('asked')`
    ],
    { encoding: 'utf8' }
  )
  t.equal(stderr, '')
  t.equal(stdout, 'asked\n')
})
