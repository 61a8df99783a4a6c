/** Lint refuses what the layout forbids: each rule reports a deliberate violation, with its reason. */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'

type Fault = { path: string; source: string; rule: string; says?: RegExp }

function imports(path: string, specifier: string, says: RegExp): Fault {
  return { path, source: `import '${specifier}'\n`, rule: 'no-restricted-imports', says }
}

const faults: Fault[] = [
  imports('shared/limits.ts', './errors.ts', /ground floor imports nothing/),
  imports('shared/urn/a.ts', '../model/x.ts', /a URN is a text/),
  imports('shared/urn/b.ts', '../formats/x.ts', /a URN is a text/),
  imports('shared/model/a.ts', '../db/x.ts', /model\/ is pure/),
  imports('shared/model/b.ts', 'knex', /model\/ is pure/),
  imports('shared/model/c.ts', '../statements/x.ts', /model\/ is pure/),
  imports('shared/statements/a.ts', '../store/x.ts', /statements\/ merges and packs/),
  imports('shared/statements/b.ts', 'pg', /statements\/ merges and packs/),
  imports('shared/formats/a.ts', '../store/x.ts', /formats\/ turns bytes into changes/),
  imports('shared/openlineage/a.ts', '../store/x.ts', /openlineage\/ reads events/),
  imports('shared/platform/a.ts', '../urn/x.ts', /platform\/ is the process/),
  imports('shared/platform/b.ts', 'pg', /platform\/ is the process/),
  imports('shared/db/a.ts', '../store/x.ts', /db\/ says how to reach Postgres/),
  imports('shared/db/b.ts', 'bullmq', /db\/ says how to reach Postgres/),
  imports('shared/queue/a.ts', '../db/x.ts', /queue\/ carries messages/),
  imports('shared/queue/b.ts', 'knex', /queue\/ carries messages/),
  imports('shared/graph/a.ts', '../catalog/x.ts', /graph\/ is the lineage in memory/),
  imports('shared/store/a.ts', '../catalog/x.ts', /store\/ is SQL/),
  imports('shared/store/b.ts', '../graph/x.ts', /store\/ is SQL/),
  imports('shared/store/c.ts', 'ioredis', /store\/ is SQL/),
  imports('shared/catalog/a.ts', '../../api/x.ts', /catalog\/ is above store/),
  imports('shared/catalog/b.ts', 'knex', /catalog\/ is rules/),
  imports('shared/catalog/d.ts', '../db/query.ts', /SQL is in store/),
  imports('shared/catalog/c.ts', '../../migrations/index.ts', /Migrations are a leaf/),
  imports('shared/catalog/loads/a.ts', 'knex', /catalog\/ is rules/),
  imports('shared/catalog/entities/a.ts', '../lineage/x.ts', /entities\/ reads what is stored/),
  imports('shared/catalog/lineage/a.ts', '../search/x.ts', /lineage\/ reads the graph/),
  imports('shared/catalog/lineage/b.ts', 'knex', /catalog\/ is rules/),
  imports('shared/catalog/search/a.ts', '../write/x.ts', /search\/ finds entities/),
  imports('shared/catalog/domains/a.ts', '../write/x.ts', /domains\/ reads the tree/),
  imports('shared/catalog/access/a.ts', '../write/x.ts', /access\/ says who may do what/),
  imports('shared/catalog/write/a.ts', '../loads/x.ts', /write\/ applies changes/),
  imports('shared/catalog/write/b.ts', '../../../api/x.ts', /catalog\/ is above store/),
  imports('shared/catalog/openlineage/a.ts', '../loads/x.ts', /openlineage\/ makes changes of events/),
  imports('migrations/a.ts', '../shared/limits.ts', /a migration is frozen/i),
  imports('api/a.ts', '../worker/x.ts', /only through the queue/),
  imports('api/graphql/a.ts', '../../shared/store/x.ts', /a resolver has no SQL/),
  imports('api/b.ts', 'pg', /api\/ calls shared\/catalog/),
  imports('api/c.ts', '../dev/x.ts', /compose processes/),
  imports('worker/a.ts', '../api/x.ts', /only through the queue/),
  imports('worker/b.ts', '../shared/store/x.ts', /a processor has no SQL/),
  imports('worker/c.ts', 'fastify', /worker\/ calls shared\/catalog/),
  imports('test/a.test.ts', 'fast-check', /seed of the run/),
  imports('shared/store/d.ts', '../../test/support/x.ts', /compose processes/),
  {
    path: 'shared/urn/cycle-a.ts',
    source: `import { b } from './cycle-b.ts'\nexport const a = () => b\n`,
    rule: 'no-cycle'
  },
  {
    path: 'shared/urn/cycle-b.ts',
    source: `import { a } from './cycle-a.ts'\nexport const b = () => a\n`,
    rule: 'no-cycle'
  },
  { path: 'shared/model/any.ts', source: 'export const x: any = 1\n', rule: 'no-explicit-any' },
  {
    path: 'shared/model/bang.ts',
    source: 'export const f = (x?: string) => x!.length\n',
    rule: 'no-non-null-assertion'
  },
  {
    path: 'shared/store/thenable.ts',
    source: `import type { Knex } from 'knex'\nexport function f(tx: Knex) { tx('entity').insert({}) }\n`,
    rule: 'no-floating-promises'
  },
  {
    path: 'shared/store/floating.ts',
    source: 'export function f(g: () => Promise<void>) { g() }\n',
    rule: 'no-floating-promises'
  },
  {
    path: 'shared/store/misused.ts',
    source: 'export function f(g: () => Promise<boolean>) { if (g()) return 1; return 2 }\n',
    rule: 'no-misused-promises'
  },
  {
    path: 'shared/store/types.ts',
    source: `import { Writable } from 'node:stream'\nexport type W = Writable\n`,
    rule: 'consistent-type-imports'
  },
  { path: 'shared/store/env.ts', source: 'export const x = process.env.PORT\n', rule: 'no-process-env' },
  { path: 'shared/store/console.ts', source: `console.log('x')\n`, rule: 'no-console' },
  {
    path: 'shared/store/long.ts',
    source: Array.from({ length: 501 }, (_, index) => `export const x${index} = 1\n`).join(''),
    rule: 'max-lines'
  },
  { path: 'shared/store/wrong-type.ts', source: `export const x: number = 'a'\n`, rule: 'TS2322' }
]

/** Imports that the layout allows, because a rule that refuses everything would also pass. */
const allowed: Record<string, string> = {
  'shared/errors.ts': 'export const code = 1\n',
  'shared/urn/fine.ts': `import { code } from '../errors.ts'\nexport const urn = code\n`,
  'shared/store/fine.ts': `import type { Knex } from 'knex'\nimport { urn } from '../urn/fine.ts'\nexport async function f(tx: Knex) { await tx('entity').insert({ urn }) }\n`,
  'shared/platform/config.ts': 'export const env = process.env\n',
  'api/fine.ts': `import type { FastifyReply } from 'fastify'\nexport function f(reply: FastifyReply) { reply.send({}) }\n`,
  'dev/fine.ts': `import '../api/fine.ts'\nconsole.log(process.env.PORT)\n`
}

t.test('every file of the catalog is in a room, and every room has a README', async (t) => {
  const catalog = packagePath('shared/catalog')
  for (const entry of readdirSync(catalog, { withFileTypes: true })) {
    t.ok(entry.isDirectory(), `${entry.name} is a room`)
    t.ok(existsSync(join(catalog, entry.name, 'README.md')), `${entry.name} has a README`)
  }
})

t.test('each planted fault is refused with its reason, and what is allowed passes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-lint-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json'])
    copyFileSync(packagePath(name), join(folder, name))
  symlinkSync(packagePath('node_modules'), join(folder, 'node_modules'))
  const files = [...faults.map(({ path, source }) => [path, source] as const), ...Object.entries(allowed)]
  for (const [path, source] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), source)
  }
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [packagePath('node_modules/oxlint/bin/oxlint'), '--type-aware', '--type-check', '--format=json', '.'],
    { cwd: folder, encoding: 'utf8' }
  )
  if (stdout === '') throw new Error(stderr)
  const {
    diagnostics
  }: { diagnostics: { filename: string; code: string; message: string; help?: string }[] } =
    JSON.parse(stdout)
  for (const { path, rule, says } of faults) {
    const found = diagnostics.filter(({ filename, code }) => filename === path && code.includes(rule))
    t.ok(found.length > 0, `${path}: ${rule}`)
    if (says !== undefined)
      t.match(
        found.map(({ message, help }) => `${message} ${help ?? ''}`).join(' '),
        says,
        `${path}: says why`
      )
  }
  t.same(
    diagnostics
      .filter(({ filename }) => filename in allowed)
      .map(({ filename, message }) => `${filename}: ${message}`),
    []
  )
})
