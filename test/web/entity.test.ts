/** What pages show of entities of every type: held against what the server knows of them. */
import t from 'tap'
import { textAspectNames } from '../../shared/catalog/entities/entity-texts.ts'
import { entityTypes } from '../../shared/model/entity-types.ts'
import { descriptionOf, infoAspects, type Aspects, type AspectValue } from '../../web/src/api/aspects.ts'
import { canBeInDomain, canGetDomain, cardOf, hasEditableLineage } from '../../web/src/api/entity.ts'
import { readImpactQuestion, startOf } from '../../web/src/pages/impact-question.ts'

const aspectsOf = (values: { [name: string]: AspectValue }): Aspects =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { value, version: 1, writtenAt: null, actor: null }])
  )
const table = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'
const column = `urn:li:schemaField:(${table},total)`

t.test('every aspect that the server searches for a description is shown as one', async (t) => {
  t.strictSame([...infoAspects].sort(), textAspectNames.filter((name) => !name.startsWith('editable')).sort())
  for (const name of infoAspects) {
    const field = name.startsWith('glossary') ? 'definition' : 'description'
    t.equal(descriptionOf(aspectsOf({ [name]: { [field]: 'what it is' } })), 'what it is', name)
  }
  t.equal(
    descriptionOf(
      aspectsOf({ corpGroupInfo: { description: 'old' }, corpGroupEditableInfo: { description: 'new' } })
    ),
    'new'
  )
  t.equal(descriptionOf(aspectsOf({ corpUserEditableInfo: { aboutMe: 'I write' } })), 'I write')
  t.equal(descriptionOf(aspectsOf({ status: { removed: false } })), null)
})

t.test(
  'a domain is offered for the types that the server puts into one, and not for placeholders',
  async (t) => {
    const named = entityTypes.filter(({ graphqlType }) => graphqlType !== 'OTHER')
    for (const { graphqlType, isAsset } of named) t.equal(canBeInDomain(graphqlType), isAsset, graphqlType)
    t.equal(canGetDomain({ type: 'DATASET', exists: true }), true)
    t.equal(canGetDomain({ type: 'DATASET', exists: false }), false)
    t.equal(canGetDomain({ type: 'TAG', exists: true }), false)
  }
)

t.test('an entity is called by its name, and by its id only without one', async (t) => {
  const name = (raw: Partial<Parameters<typeof cardOf>[0]>) =>
    cardOf({ urn: 'urn:li:x:id', type: 'X', ...raw }).name
  t.equal(name({ described: { tagName: 'Personal data' }, name: 'pii' }), 'Personal data')
  t.equal(name({ described: { displayName: null, fullName: 'Ada L.' } }), 'Ada L.')
  t.equal(name({ name: 'pii', described: null }), 'pii')
  t.equal(name({ runName: 'nightly 7' }), 'nightly 7')
  t.equal(name({ runName: null }), 'id')
})

t.test('the page of a column asks for the impact of the column, and edits nothing', async (t) => {
  const question = readImpactQuestion(column, { dir: 'up' })
  t.match(question, { urn: table, column: 'total', direction: 'UPSTREAM' })
  t.equal(startOf(question), column)
  t.equal(startOf(readImpactQuestion(table, { col: 'total' })), column)
  t.equal(hasEditableLineage(column), false)
  t.equal(hasEditableLineage(table), true)
})
