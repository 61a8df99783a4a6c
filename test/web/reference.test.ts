/** The REST reference shows every operation of a description, and follows its references. */
import t from 'tap'
import {
  elementOf,
  fieldsOf,
  filterGroups,
  groupsOf,
  typeText
} from '../../web/src/pages/reference/openapi.ts'

const description = {
  tags: [{ name: 'Loads', description: 'Bulk changes' }],
  paths: {
    '/loads': {
      get: {
        tags: ['Loads'],
        summary: 'Lists loads',
        parameters: [{ $ref: '#/components/parameters/cursor' }],
        responses: {
          '200': {
            description: 'A page',
            content: {
              'application/json': {
                schema: { type: 'array', items: { $ref: '#/components/schemas/Load' } }
              }
            }
          }
        }
      },
      post: { tags: ['Loads'], summary: 'Begins a load' }
    },
    '/health': { get: { summary: 'Whether it lives' } }
  },
  components: {
    parameters: {
      cursor: { name: 'cursor', in: 'query', schema: { type: 'string' }, description: 'Next page' }
    },
    schemas: {
      Named: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      Load: {
        allOf: [{ $ref: '#/components/schemas/Named' }],
        properties: { state: { enum: ['done', 'failed'] }, self: { $ref: '#/components/schemas/Load' } }
      },
      Loop: { $ref: '#/components/schemas/Loop' }
    }
  }
}

t.test('every operation is in the group of its tag', async (t) => {
  const groups = groupsOf(description, 'Other')
  t.strictSame(
    groups.map(({ tag, operations }) => [tag, operations.map(({ method, path }) => `${method} ${path}`)]),
    [
      ['Loads', ['GET /loads', 'POST /loads']],
      ['Other', ['GET /health']]
    ]
  )
  t.match(groups[0]?.operations[0], {
    parameters: [{ name: 'cursor', place: 'query', type: 'string', description: 'Next page' }],
    answers: [{ status: '200', description: 'A page' }]
  })
})

t.test('references are followed, and one to itself ends the walk', async (t) => {
  t.equal(typeText({ type: 'array', items: { $ref: '#/components/schemas/Load' } }), 'array of Load')
  t.strictSame(
    fieldsOf(description, { $ref: '#/components/schemas/Load' }).map(({ name, isRequired }) => [
      name,
      isRequired
    ]),
    [
      ['name', true],
      ['state', false],
      ['self', false]
    ]
  )
  t.equal(typeText({ enum: ['done', 'failed'] }), '"done" | "failed"')
  t.match(elementOf(description, { $ref: '#/components/schemas/Loop' }), {
    $ref: '#/components/schemas/Loop'
  })
})

t.test('a filter keeps the operations in which all words occur', async (t) => {
  const paths = (text: string): string[] =>
    filterGroups(groupsOf(description, 'Other'), text).flatMap(({ operations }) =>
      operations.map(({ method, path }) => `${method} ${path}`)
    )
  t.strictSame(paths('post loads'), ['POST /loads'])
  t.strictSame(paths('LIVES'), ['GET /health'])
  t.strictSame(paths('nothing'), [])
})
