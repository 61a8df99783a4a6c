/** The question of the impact table: from its address to GraphQL, the export and the command line. */
import t from 'tap'
import { addressOf } from '../../web/src/address.ts'
import { countOwners } from '../../web/src/pages/impact-rows.ts'
import {
  allInput,
  countsInput,
  exportCommand,
  exportPath,
  isFiltered,
  readImpactQuestion,
  rowsInput
} from '../../web/src/pages/impact-question.ts'

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.o'rders,PROD)"
const domain = 'urn:li:domain:sales'
const looker = 'urn:li:dataPlatform:looker'

const queryOf = (address: string): { [name: string]: string } =>
  Object.fromEntries(new URL(address, 'http://host/ui/').searchParams)

t.test('the question of the impact table', async (t) => {
  const query = queryOf(
    addressOf('asset', {
      urn,
      dir: 'up',
      degree: '1|3+|7',
      types: 'DATASET|CHART',
      platforms: looker,
      domain,
      owner: 'urn:li:corpuser:ada',
      text: 'a, b & =c',
      col: 'items.[price],(x)'
    })
  )
  const question = readImpactQuestion(urn, query)

  t.test('is read back from its address, without invalid degrees', async (t) => {
    t.match(question, {
      column: 'items.[price],(x)',
      direction: 'UPSTREAM',
      degrees: ['1', '3+'],
      types: ['DATASET', 'CHART'],
      platforms: [looker],
      domain,
      owner: 'urn:li:corpuser:ada',
      text: 'a, b & =c'
    })
    t.equal(isFiltered(question), true)
    t.equal(isFiltered(readImpactQuestion(urn, {})), false)
  })

  t.test('requests the same rows for the screen and for the export', async (t) => {
    const rows = rowsInput(question, { count: 10, scrollId: null })
    const params = new URLSearchParams(exportPath(question).split('?')[1])
    t.equal(params.get('urn'), rows.urn)
    t.equal(params.get('direction'), rows.direction)
    t.equal(params.get('query'), rows.query)
    t.strictSame(JSON.parse(params.get('filters') ?? ''), rows.orFilters)
    t.equal(rows.urn, `urn:li:schemaField:(${urn},items.[price],(x))`)
    t.match(rows, { foldColumns: false })
  })

  t.test('counts the chips of degrees over all degrees, and the choices over everything', async (t) => {
    const fieldsOf = ({ orFilters }: { orFilters: { and: { field: string }[] }[] }): string[] =>
      orFilters.flatMap(({ and }) => and.map(({ field }) => field))
    const others = ['_entityType', 'platform', 'domains', 'owners']
    t.strictSame(fieldsOf(countsInput(question, { withDegrees: false })), others)
    t.strictSame(fieldsOf(countsInput(question, { withDegrees: true })), ['degree', ...others])
    t.strictSame(fieldsOf(allInput(question)), [])
    t.equal(allInput(question).query, '')
  })

  t.test('finds assets without a domain by a separate filter', async (t) => {
    const { orFilters } = rowsInput(readImpactQuestion(urn, { domain: 'none' }), { count: 1, scrollId: null })
    t.strictSame(orFilters, [{ and: [{ field: 'domains', values: [], condition: 'EXISTS', negated: true }] }])
  })

  t.test(
    'is a command if the command line has its filters, otherwise curl, quoted for a shell',
    async (t) => {
      t.equal(
        exportCommand(readImpactQuestion(urn, { degree: '1|3+', text: "it's" })),
        `tributary export lineage 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.o'\\''rders,PROD)' --degree '1,3+' --query 'it'\\''s'`
      )
      t.match(exportCommand(question), /^curl /)
      t.match(exportCommand(readImpactQuestion(urn, { domain: 'none' })), /^curl /)
    }
  )
})

t.test('owners are counted once for each row that they own, and rows without any', async (t) => {
  const card = {
    urn: 'urn:li:dataset:x',
    type: 'DATASET',
    name: 'x',
    platform: null,
    environment: null,
    qualifier: '',
    nameThere: null,
    domain: null,
    exists: true
  }
  const row = (...owners: string[]) => ({
    degree: 1,
    card,
    owners: owners.map((urn) => ({ urn, name: urn.toUpperCase() })),
    parent: null
  })
  t.strictSame(countOwners([row('b'), row('a', 'b'), row(), row('c')]), {
    owners: [
      { urn: 'b', name: 'B', count: 2 },
      { urn: 'a', name: 'A', count: 1 },
      { urn: 'c', name: 'C', count: 1 }
    ],
    withoutCount: 1
  })
})
