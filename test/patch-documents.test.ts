/**
 * JSON Patch on the documents of aspects, with DataHub's array keys: accepted patches, their results, and
 * refusals.
 */
import t from 'tap'
import { CatalogError } from '../shared/errors.ts'
import type { JsonObject, PatchOperation } from '../shared/model/changes.ts'
import { applyPatch, parsePointer } from '../shared/model/json-patch.ts'
import { fc } from './support/fast-check.ts'

const orders = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'
const ordersId = `urn:li:schemaField:(${orders},id)`

t.test('patches', async (t) => {
  const tag = (name: string): JsonObject => ({ tag: `urn:li:tag:${name}` })
  const cases: [
    name: string,
    aspectName: string,
    document: JsonObject | null,
    patch: PatchOperation[],
    result: JsonObject
  ][] = [
    ['add replaces what is there', 'moonPhase', { a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
    [
      'objects on the way are created',
      'moonPhase',
      null,
      [{ op: 'add', path: '/a/b/c', value: 2 }],
      { a: { b: { c: 2 } } }
    ],
    ['null is a value', 'moonPhase', { a: 1 }, [{ op: 'add', path: '/a', value: null }], { a: null }],
    [
      'removing an absent value does nothing',
      'moonPhase',
      { a: 1 },
      [
        { op: 'remove', path: '/b/c' },
        { op: 'remove', path: '/a/x' },
        { op: 'remove', path: '/a' }
      ],
      {}
    ],
    [
      'arrays are addressed by index',
      'moonPhase',
      { a: [1, 2, 3] },
      [
        { op: 'add', path: '/a/1', value: 9 },
        { op: 'remove', path: '/a/0' },
        { op: 'add', path: '/a/-', value: 4 },
        { op: 'replace', path: '/a/0', value: 8 }
      ],
      { a: [8, 2, 3, 4] }
    ],
    [
      'escapes',
      'moonPhase',
      { 'a/b': { 'c~d': 1 } },
      [{ op: 'replace', path: '/a~1b/c~0d', value: 2 }],
      { 'a/b': { 'c~d': 2 } }
    ],
    ['an empty name is a name', 'moonPhase', { '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
    ['~01 is ~1', 'moonPhase', { '~1': 1 }, [{ op: 'remove', path: '/~01' }], {}],
    [
      'move and copy',
      'moonPhase',
      { a: { b: 1 }, l: [1, 2] },
      [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'move', from: '/a/b', path: '/d' },
        { op: 'move', from: '/l/0', path: '/l/1' }
      ],
      { a: {}, c: { b: 1 }, d: 1, l: [2, 1] }
    ],
    [
      'a test that holds',
      'moonPhase',
      { a: { b: [1, { c: 2 }] } },
      [
        { op: 'test', path: '/a/b', value: [1, { c: 2 }] },
        { op: 'add', path: '/x', value: 1 }
      ],
      { a: { b: [1, { c: 2 }] }, x: 1 }
    ],
    ['the whole document', 'moonPhase', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    [
      'names that objects inherit are plain names',
      'moonPhase',
      {},
      [
        { op: 'add', path: '/toString', value: 1 },
        { op: 'add', path: '/hasOwnProperty/x', value: 2 }
      ],
      { toString: 1, hasOwnProperty: { x: 2 } }
    ],
    [
      'tags by their URN',
      'globalTags',
      { tags: [tag('a'), tag('b')] },
      [
        { op: 'add', path: '/tags/urn:li:tag:c', value: tag('c') },
        { op: 'remove', path: '/tags/urn:li:tag:a' }
      ],
      { tags: [tag('b'), tag('c')] }
    ],
    [
      'tags on nothing',
      'globalTags',
      null,
      [{ op: 'add', path: '/tags/urn:li:tag:c', value: {} }],
      { tags: [tag('c')] }
    ],
    [
      'a list set whole, then patched by key',
      'globalTags',
      { tags: [tag('x')] },
      [
        { op: 'add', path: '/tags', value: [tag('a'), tag('b')] },
        { op: 'remove', path: '/tags/urn:li:tag:a' }
      ],
      { tags: [tag('b')] }
    ],
    [
      'a list removed whole',
      'globalTags',
      { tags: [tag('x')] },
      [{ op: 'remove', path: '/tags' }],
      { tags: [] }
    ],
    [
      'a test of a keyed list',
      'globalTags',
      { tags: [tag('x')] },
      [
        { op: 'test', path: '/tags', value: [tag('x')] },
        { op: 'test', path: '/tags/urn:li:tag:x/tag', value: 'urn:li:tag:x' }
      ],
      { tags: [tag('x')] }
    ],
    [
      'the order of a list stays, whatever its keys look like',
      'editableSchemaMetadata',
      { editableSchemaFieldInfo: [{ fieldPath: 'b' }, { fieldPath: '2' }, { fieldPath: '1' }] },
      [{ op: 'add', path: '/editableSchemaFieldInfo/2/description', value: 'x' }],
      {
        editableSchemaFieldInfo: [
          { fieldPath: 'b' },
          { fieldPath: '2', description: 'x' },
          { fieldPath: '1' }
        ]
      }
    ],
    [
      'tags of a column',
      'editableSchemaMetadata',
      null,
      [{ op: 'add', path: '/editableSchemaFieldInfo/a/globalTags/tags/urn:li:tag:x', value: tag('x') }],
      { editableSchemaFieldInfo: [{ fieldPath: 'a', globalTags: { tags: [tag('x')] } }] }
    ],
    [
      'owners by owner and type',
      'ownership',
      {
        owners: [
          { owner: 'urn:li:corpuser:a', type: 'X' },
          { owner: 'urn:li:corpuser:a', type: 'Y' }
        ]
      },
      [
        { op: 'remove', path: '/owners/urn:li:corpuser:a/X' },
        { op: 'add', path: '/owners/urn:li:corpuser:b/X', value: { owner: 'urn:li:corpuser:b', type: 'X' } },
        { op: 'remove', path: '/owners/urn:li:corpuser:b/Z' }
      ],
      {
        owners: [
          { owner: 'urn:li:corpuser:a', type: 'Y' },
          { owner: 'urn:li:corpuser:b', type: 'X' }
        ]
      }
    ],
    [
      'terms and structured properties',
      'structuredProperties',
      null,
      [
        {
          op: 'add',
          path: '/properties/urn:li:structuredProperty:x',
          value: { propertyUrn: 'urn:li:structuredProperty:x', values: [{ string: 'a' }] }
        }
      ],
      { properties: [{ propertyUrn: 'urn:li:structuredProperty:x', values: [{ string: 'a' }] }] }
    ],
    [
      'texts by themselves',
      'datasetProperties',
      { tags: ['a', 'b'] },
      [
        { op: 'add', path: '/tags/c', value: 'c' },
        { op: 'remove', path: '/tags/a' },
        { op: 'add', path: '/customProperties/k', value: 'v' }
      ],
      { tags: ['b', 'c'], customProperties: { k: 'v' } }
    ],
    [
      'domains',
      'domains',
      { domains: ['urn:li:domain:a'] },
      [
        { op: 'remove', path: '/domains/urn:li:domain:a' },
        { op: 'add', path: '/domains/urn:li:domain:b', value: 'urn:li:domain:b' }
      ],
      { domains: ['urn:li:domain:b'] }
    ],
    [
      'columns of a job by their URN',
      'dataJobInputOutput',
      null,
      [{ op: 'add', path: `/inputDatasetFields/${ordersId}`, value: ordersId }],
      { inputDatasets: [], outputDatasets: [], inputDatasetFields: [ordersId] }
    ]
  ]
  for (const [name, aspectName, document, patch, result] of cases) {
    t.test(name, async (t) => {
      const before = JSON.stringify(document)
      t.strictSame(applyPatch(aspectName, document, { patch }), result)
      t.equal(JSON.stringify(document), before, 'the document stays as it was')
    })
  }

  t.test('the caller names the keys of an array, nested ones too', async (t) => {
    const arrayPrimaryKeys = { domainAssociations: ['attribution\u241fsource', 'domain'] }
    const patched = applyPatch(
      'domains',
      { domains: ['urn:li:domain:a'] },
      {
        arrayPrimaryKeys,
        patch: [
          { op: 'add', path: '/domainAssociations//urn:li:domain:b', value: { domain: 'urn:li:domain:b' } }
        ]
      }
    )
    t.strictSame(patched, {
      domains: ['urn:li:domain:a'],
      domainAssociations: [{ domain: 'urn:li:domain:b' }]
    })
    const attributed = {
      domain: 'urn:li:domain:b',
      attribution: { source: 'urn:li:dataHubAction:x', time: 1 }
    }
    const removed = applyPatch(
      'domains',
      { domains: ['urn:li:domain:b'], domainAssociations: [attributed] },
      {
        arrayPrimaryKeys,
        patch: [{ op: 'remove', path: '/domainAssociations/urn:li:dataHubAction:x/urn:li:domain:b' }]
      }
    )
    t.strictSame(removed, { domains: ['urn:li:domain:b'], domainAssociations: [] })
    t.strictSame(
      applyPatch(
        'globalTags',
        { tags: [tag('a'), tag('b')] },
        { forceGenericPatch: true, patch: [{ op: 'remove', path: '/tags/0' }] }
      ),
      { tags: [tag('b')] }
    )
    t.strictSame(
      applyPatch(
        'moonPhase',
        { list: [{ id: 'x', n: 1 }] },
        {
          arrayPrimaryKeys: { list: ['id'] },
          patch: [
            { op: 'add', path: '/list/y', value: { n: 2 } },
            { op: 'replace', path: '/list/x/n', value: 3 }
          ]
        }
      ),
      {
        list: [
          { id: 'x', n: 3 },
          { id: 'y', n: 2 }
        ]
      }
    )
  })

  t.test('an operation that cannot be carried out is refused', async (t) => {
    const refused: [document: JsonObject, operation: PatchOperation, code: string][] = [
      [{}, { op: 'add', path: 'a', value: 1 }, 'BAD_REQUEST'],
      [{}, { op: 'add', path: '/a' }, 'BAD_REQUEST'],
      [{ a: 1 }, { op: 'add', path: '/a/b', value: 1 }, 'BAD_REQUEST'],
      [{ a: [1] }, { op: 'add', path: '/a/2', value: 1 }, 'BAD_REQUEST'],
      [{ a: [1] }, { op: 'add', path: '/a/01', value: 1 }, 'BAD_REQUEST'],
      [{ a: [1] }, { op: 'add', path: '/a/x/y', value: 1 }, 'BAD_REQUEST'],
      [{ a: [1] }, { op: 'replace', path: '/a/1', value: 1 }, 'BAD_REQUEST'],
      [{}, { op: 'copy', from: '/a', path: '/b' }, 'BAD_REQUEST'],
      [{ a: { b: 1 } }, { op: 'move', from: '/a', path: '/a/b/c' }, 'BAD_REQUEST'],
      [{ a: 1 }, { op: 'test', path: '/a', value: 2 }, 'PRECONDITION_FAILED'],
      [{}, { op: 'test', path: '/a', value: null }, 'PRECONDITION_FAILED'],
      [{}, { op: 'replace', path: '', value: [1] }, 'BAD_REQUEST'],
      [{}, { op: 'add', path: '/__proto__/x', value: 1 }, 'BAD_REQUEST'],
      [{}, { op: 'add', path: `/${'a/'.repeat(64)}a`, value: 1 }, 'LIMIT_EXCEEDED']
    ]
    for (const [document, operation, code] of refused)
      t.throws(
        () => applyPatch('moonPhase', document, { patch: [operation] }),
        { code },
        JSON.stringify(operation).slice(0, 80)
      )
    t.throws(() => parsePointer('a/b'), { code: 'BAD_REQUEST' })
  })

  t.test('no patch reaches a prototype', async (t) => {
    const segment = fc.constantFrom(
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'a',
      '0',
      '-',
      'tags',
      'owners'
    )
    const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => `/${segments.join('/')}`)
    const operation = fc.record({
      op: fc.constantFrom('add', 'replace', 'remove', 'copy', 'move'),
      path,
      from: path,
      value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(JSON.parse('{"__proto__":{"polluted":1}}')))
    })
    fc.assert(
      fc.property(
        fc.constantFrom('globalTags', 'ownership', 'moonPhase'),
        fc.array(operation, { maxLength: 8 }),
        (aspectName, patch) => {
          try {
            // Safe: fast-check's value is JSON.
            applyPatch(aspectName, null, { patch: patch as PatchOperation[] })
          } catch (error) {
            if (!(error instanceof CatalogError)) throw error
          }
          return (
            !('polluted' in {}) &&
            Object.keys(Object.prototype).length === 0 &&
            Object.keys(Array.prototype).length === 0
          )
        }
      ),
      { numRuns: 3000 }
    )
    t.pass()
  })
})
