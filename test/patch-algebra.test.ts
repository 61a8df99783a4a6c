/**
 * Map-keyed patches: any sequence of adds and removes, over either transport and from two clients at once,
 * has the same result as on a plain map, and leaves an aspect with everything that DataHub's schema requires.
 */
import t from 'tap'
import type { JsonObject, JsonValue, PatchOperation } from '../shared/model/changes.ts'
import { applyPatch } from '../shared/model/json-patch.ts'
import { isObject } from '../shared/model/json-values.ts'
import { casesOf, fc, seed } from './support/fast-check.ts'
import { mapAfter, patchCases, stepsOf, type PatchCase, type PatchStep } from './support/patch-cases.ts'
import { withServer } from './support/server.ts'

t.test('patch algebra', async (t) => {
  const { rest } = await withServer(t, { env: { MISSING_REFERENCES: 'create' } })
  let runs = 0

  const sendRestli = (urn: string, { aspectName }: PatchCase, patch: JsonObject) =>
    rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType: urn.split(':')[2],
          entityUrn: urn,
          changeType: 'PATCH',
          aspectName,
          aspect: { value: JSON.stringify(patch), contentType: 'application/json-patch+json' }
        }
      }
    })
  const sendV3 = (urn: string, { aspectName }: PatchCase, patch: JsonObject) =>
    rest({
      method: 'PATCH',
      url: `/openapi/v3/entity/${urn.split(':')[2]}?async=false`,
      body: [{ urn, [aspectName]: { value: patch } }]
    })

  function patchOf(steps: readonly PatchStep[]): JsonObject {
    const arrayPrimaryKeys = Object.assign(
      {},
      ...steps.map(({ list, key, number }) => list.add(key, number).arrayPrimaryKeys ?? {})
    )
    const patch = steps.map(({ op, list, key, number }): JsonObject => {
      const { path, value } = list.add(key, number)
      return op === 'remove' ? { op, path } : { op, path, value }
    })
    return { patch, ...(Object.keys(arrayPrimaryKeys).length > 0 ? { arrayPrimaryKeys } : {}) }
  }

  async function begin(of: PatchCase): Promise<string> {
    runs += 1
    const urn = of.entityUrn(`${of.aspectName}${runs}`)
    const entityType = urn.split(':')[2] ?? ''
    await rest({
      method: 'POST',
      url: `/openapi/v3/entity/${entityType}?async=false`,
      body: [
        {
          urn,
          status: { value: { removed: false } },
          ...(of.before ? { [of.aspectName]: { value: of.before } } : {})
        }
      ]
    })
    return urn
  }

  async function mapRead(
    urn: string,
    of: PatchCase
  ): Promise<{ map: Map<string, JsonValue>; aspect: JsonObject }> {
    const { body, status } = await rest({
      url: `/openapi/v3/entity/${urn.split(':')[2]}/${encodeURIComponent(urn)}/${of.aspectName}`
    })
    const aspect: JsonObject = status === 404 ? {} : body.value
    return { map: new Map(of.lists.flatMap((list) => list.read(aspect))), aspect }
  }

  const inOrder = (map: Map<string, JsonValue>) =>
    Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))

  for (const of of patchCases) {
    t.test(`${of.name} (${of.aspectName})`, async (t) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(stepsOf(of), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
          fc.boolean(),
          async (patches, startsWithV3) => {
            const urn = await begin(of)
            for (const [index, steps] of patches.entries()) {
              const { status, text } = await ((index % 2 === 0) === startsWithV3 ? sendV3 : sendRestli)(
                urn,
                of,
                patchOf(steps)
              )
              if (status !== 200) throw new Error(`${status} ${text}`)
            }
            const { map, aspect } = await mapRead(urn, of)
            t.strictSame(inOrder(map), inOrder(mapAfter(patches.flat())))
            if (of.before?.fineGrainedLineages)
              t.match(
                aspect.fineGrainedLineages,
                of.before.fineGrainedLineages,
                'what no path names is left as it was'
              )
            return t.passing()
          }
        ),
        { seed, numRuns: casesOf(8), endOnFailure: true }
      )

      await fc.assert(
        fc.asyncProperty(
          fc.array(stepsOf(of), { maxLength: 8 }),
          fc.array(stepsOf(of), { maxLength: 8 }),
          async (one, two) => {
            // Each client has its own keys, because otherwise the result would depend on which was first.
            const own = new Set(one.map(({ list, key }) => `${of.lists.indexOf(list)} ${key}`))
            const others = two.filter(({ list, key }) => !own.has(`${of.lists.indexOf(list)} ${key}`))
            const urn = await begin(of)
            const client = async (steps: readonly PatchStep[], send: typeof sendV3) => {
              for (const step of steps) {
                const { status, text } = await send(urn, of, patchOf([step]))
                if (status !== 200) throw new Error(`${status} ${text}`)
              }
            }
            await Promise.all([client(one, sendV3), client(others, sendRestli)])
            t.strictSame(
              inOrder((await mapRead(urn, of)).map),
              inOrder(new Map([...mapAfter(one), ...mapAfter(others)])),
              'two at once'
            )
            return t.passing()
          }
        ),
        { seed, numRuns: casesOf(4), endOnFailure: true }
      )
    })
  }

  const stamp = { time: 0, actor: 'urn:li:corpuser:unknown' }
  const tag = { tag: 'urn:li:tag:a' }
  const remove = (path: string): JsonObject => ({ patch: [{ op: 'remove', path }] })
  const put = (path: string, value: JsonValue): JsonObject => ({ patch: [{ op: 'add', path, value }] })
  const dataset = (id: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,required ${id},PROD)`

  t.test('a patch leaves what the schema requires, through either door', async (t) => {
    const documented = { documentations: [{ documentation: 'x' }] }
    const version = { versionSet: 'urn:li:versionSet:(x,dataset)', version: { versionTag: '1' }, sortId: '1' }
    const cases: [aspectName: string, before: JsonObject | null, patch: JsonObject, after: JsonObject][] = [
      ['globalTags', { tags: [tag] }, remove('/tags'), { tags: [] }],
      [
        'ownership',
        { owners: [{ owner: 'urn:li:corpuser:a', type: 'DATAOWNER' }] },
        remove('/owners'),
        { owners: [] }
      ],
      ['documentation', documented, remove('/documentations'), { documentations: [] }],
      ['documentation', documented, remove(''), { documentations: [] }],
      [
        'glossaryTerms',
        { terms: [{ urn: 'urn:li:glossaryTerm:a' }] },
        remove('/terms/urn:li:glossaryTerm:a'),
        { terms: [], auditStamp: stamp }
      ],
      [
        'glossaryTerms',
        { terms: [], auditStamp: { time: 7, actor: 'urn:li:corpuser:a' } },
        remove('/auditStamp/actor'),
        { terms: [], auditStamp: { ...stamp, time: 7 } }
      ],
      [
        'editableSchemaMetadata',
        null,
        put('/editableSchemaFieldInfo/p/glossaryTerms/terms/urn:li:glossaryTerm:a', {}),
        {
          editableSchemaFieldInfo: [
            {
              fieldPath: 'p',
              glossaryTerms: { terms: [{ urn: 'urn:li:glossaryTerm:a' }], auditStamp: stamp }
            }
          ]
        }
      ],
      [
        'editableSchemaMetadata',
        { editableSchemaFieldInfo: [{ fieldPath: 'p', globalTags: { tags: [tag] } }] },
        remove('/editableSchemaFieldInfo/p/globalTags/tags'),
        { editableSchemaFieldInfo: [{ fieldPath: 'p', globalTags: { tags: [] } }] }
      ],
      [
        'institutionalMemory',
        null,
        put('/elements/-', { url: 'x', description: 'x' }),
        { elements: [{ url: 'x', description: 'x', createStamp: stamp }] }
      ],
      [
        'siblings',
        null,
        put(`/siblings/${dataset('a')}`, dataset('a')),
        { siblings: [dataset('a')], primary: false }
      ],
      [
        'forms',
        null,
        put('/incompleteForms/-', { urn: 'urn:li:form:a' }),
        { incompleteForms: [{ urn: 'urn:li:form:a' }], completedForms: [] }
      ],
      [
        'applications',
        { applications: ['urn:li:application:a'] },
        remove('/applications'),
        { applications: [] }
      ],
      ['subTypes', { typeNames: ['View'] }, remove('/typeNames'), { typeNames: [] }],
      ['versionProperties', version, put('/sortId', '2'), { ...version, sortId: '2' }]
    ]
    for (const [index, [aspectName, before, patch, after]] of cases.entries()) {
      for (const send of [sendRestli, sendV3]) {
        const urn = await begin({
          name: aspectName,
          aspectName,
          entityUrn: (id) => dataset(`${id}${index}`),
          ...(before ? { before } : {}),
          lists: []
        })
        const { status, text } = await send(
          urn,
          { name: aspectName, aspectName, entityUrn: dataset, lists: [] },
          patch
        )
        t.equal(status, 200, text)
        const { body } = await rest({
          url: `/aspects/${encodeURIComponent(urn)}?aspect=${aspectName}&version=0`
        })
        t.strictSame(Object.values(body.aspect), [after], `${aspectName} ${JSON.stringify(patch)}`)
      }
    }
  })

  t.test('the domain of an asset goes with its list, through either door', async (t) => {
    const domain = 'urn:li:domain:required'
    await rest({
      method: 'POST',
      url: '/openapi/v3/entity/domain?async=false',
      body: [{ urn: domain, domainProperties: { value: { name: 'required' } } }]
    })
    for (const send of [sendRestli, sendV3]) {
      for (const before of [
        { domains: [domain] },
        { domains: [domain], domainAssociations: [{ domain, context: 'x' }] }
      ]) {
        const of: PatchCase = {
          name: 'domains',
          aspectName: 'domains',
          entityUrn: dataset,
          before,
          lists: []
        }
        const urn = await begin(of)
        t.strictSame((await mapRead(urn, of)).aspect.domains, [domain])
        const { status, text } = await send(urn, of, remove('/domains'))
        t.equal(status, 200, text)
        t.strictSame((await mapRead(urn, of)).aspect, { domains: [], domainAssociations: [] })
      }
    }
  })

  t.test('a patch that leaves out what cannot be empty is refused, and changes nothing', async (t) => {
    const version = { versionSet: 'urn:li:versionSet:(x,dataset)', version: { versionTag: '1' }, sortId: '1' }
    for (const [before, patch, field] of [
      [null, put('/sortId', '2'), 'versionSet'],
      [version, remove('/versionSet'), 'versionSet'],
      [version, remove('/sortId'), 'sortId']
    ] as const) {
      const of: PatchCase = {
        name: 'versions',
        aspectName: 'versionProperties',
        entityUrn: dataset,
        ...(before ? { before } : {}),
        lists: []
      }
      const urn = await begin(of)
      for (const [send, refused] of [
        [sendRestli, 422],
        [sendV3, 400]
      ] as const) {
        const { status, text } = await send(urn, of, patch)
        t.equal(status, refused, text)
        t.match(
          text,
          `com.linkedin.common.VersionProperties: ERROR :: /${field} :: field is required but not found and has no default value`
        )
      }
      t.strictSame((await mapRead(urn, of)).aspect, before ?? {})
    }
    // A document that was stored without it is patched unchanged.
    const of: PatchCase = {
      name: 'versions',
      aspectName: 'versionProperties',
      entityUrn: dataset,
      before: { sortId: '1' },
      lists: []
    }
    const urn = await begin(of)
    t.equal((await sendV3(urn, of, put('/comment', 'x'))).status, 200)
  })

  t.test('whatever is removed at whatever depth, lists and stamps stay complete', async (t) => {
    const term = { urn: 'urn:li:glossaryTerm:a' }
    const before: JsonObject = {
      editableSchemaFieldInfo: [
        {
          fieldPath: 'p',
          globalTags: { tags: [tag] },
          glossaryTerms: { terms: [term], auditStamp: { time: 7, actor: 'urn:li:corpuser:a' } }
        }
      ]
    }
    const step = fc.constantFrom(
      'editableSchemaFieldInfo',
      'p',
      'q',
      'globalTags',
      'tags',
      'glossaryTerms',
      'terms',
      'auditStamp',
      'time',
      'actor',
      'urn:li:tag:a',
      'urn:li:glossaryTerm:a'
    )
    const depths = ['editableSchemaFieldInfo', 'p', 'glossaryTerms', 'auditStamp', 'actor']
    const path = fc.oneof(
      fc.array(step, { maxLength: 5 }),
      fc.integer({ min: 0, max: depths.length }).map((depth) => depths.slice(0, depth))
    )
    const operation = fc.oneof(
      path.map((steps): PatchOperation => ({ op: 'remove', path: steps.map((each) => `/${each}`).join('') })),
      fc.constantFrom('p', 'q').map((name): PatchOperation => ({
        op: 'add',
        path: `/editableSchemaFieldInfo/${name}/glossaryTerms/terms/${term.urn}`,
        value: term
      })),
      fc.constantFrom('p', 'q').map((name): PatchOperation => ({
        op: 'add',
        path: `/editableSchemaFieldInfo/${name}/globalTags/tags/${tag.tag}`,
        value: tag
      }))
    )
    const isWhole = ({ globalTags, glossaryTerms }: JsonObject): boolean =>
      (globalTags === undefined || (isObject(globalTags) && Array.isArray(globalTags.tags))) &&
      (glossaryTerms === undefined ||
        (isObject(glossaryTerms) &&
          Array.isArray(glossaryTerms.terms) &&
          isObject(glossaryTerms.auditStamp) &&
          typeof glossaryTerms.auditStamp.time === 'number' &&
          typeof glossaryTerms.auditStamp.actor === 'string'))
    fc.assert(
      fc.property(
        fc.constantFrom(before, null),
        fc.array(operation, { minLength: 1, maxLength: 6 }),
        (document, patch) => {
          const { editableSchemaFieldInfo } = applyPatch('editableSchemaMetadata', document, { patch })
          return (
            Array.isArray(editableSchemaFieldInfo) &&
            editableSchemaFieldInfo.every((entry) => isObject(entry) && isWhole(entry))
          )
        }
      ),
      { seed, numRuns: 1_000 }
    )
    t.end()
  })
})
