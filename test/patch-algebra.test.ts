/** Map-keyed patches: any sequence of adds and removes, over either transport and from two clients at once, is the same on a plain map. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../shared/model/changes.ts'
import { fc, seed } from './support/fast-check.ts'
import { mapAfter, patchCases, stepsOf, type PatchCase, type PatchStep } from './support/patch-cases.ts'
import { withServer } from './support/server.ts'


t.test('patch algebra', async (t) => {
  const { rest } = await withServer(t, { env: { MISSING_REFERENCES: 'create' } })
  let runs = 0

  const sendRestli = (urn: string, { aspectName }: PatchCase, patch: JsonObject) => rest({
    method: 'POST', url: '/aspects?action=ingestProposal',
    body: { proposal: { entityType: urn.split(':')[2], entityUrn: urn, changeType: 'PATCH', aspectName, aspect: { value: JSON.stringify(patch), contentType: 'application/json-patch+json' } } }
  })
  const sendV3 = (urn: string, { aspectName }: PatchCase, patch: JsonObject) =>
    rest({ method: 'PATCH', url: `/openapi/v3/entity/${urn.split(':')[2]}?async=false`, body: [{ urn, [aspectName]: { value: patch } }] })

  function patchOf(steps: readonly PatchStep[]): JsonObject {
    const arrayPrimaryKeys = Object.assign({}, ...steps.map(({ list, key, number }) => list.add(key, number).arrayPrimaryKeys ?? {}))
    const patch = steps.map(({ op, list, key, number }): JsonObject => {
      const { path, value } = list.add(key, number)
      return op === 'remove' ? { op, path } : { op, path, value }
    })
    return { patch, ...Object.keys(arrayPrimaryKeys).length > 0 ? { arrayPrimaryKeys } : {} }
  }

  async function begin(of: PatchCase): Promise<string> {
    runs += 1
    const urn = of.entityUrn(`${of.aspectName}${runs}`)
    const entityType = urn.split(':')[2] ?? ''
    await rest({ method: 'POST', url: `/openapi/v3/entity/${entityType}?async=false`, body: [{ urn, status: { value: { removed: false } }, ...of.before ? { [of.aspectName]: { value: of.before } } : {} }] })
    return urn
  }

  async function mapRead(urn: string, of: PatchCase): Promise<{ map: Map<string, JsonValue>, aspect: JsonObject }> {
    const { body, status } = await rest({ url: `/openapi/v3/entity/${urn.split(':')[2]}/${encodeURIComponent(urn)}/${of.aspectName}` })
    const aspect: JsonObject = status === 404 ? {} : body.value
    return { map: new Map(of.lists.flatMap((list) => list.read(aspect))), aspect }
  }

  const inOrder = (map: Map<string, JsonValue>) => Object.fromEntries([...map].sort(([a], [b]) => a < b ? -1 : 1))

  for (const of of patchCases) {
    t.test(`${of.name} (${of.aspectName})`, async (t) => {
      await fc.assert(fc.asyncProperty(fc.array(fc.array(stepsOf(of), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }), fc.boolean(), async (patches, startsWithV3) => {
        const urn = await begin(of)
        for (const [index, steps] of patches.entries()) {
          const { status, text } = await ((index % 2 === 0) === startsWithV3 ? sendV3 : sendRestli)(urn, of, patchOf(steps))
          if (status !== 200) throw new Error(`${status} ${text}`)
        }
        const { map, aspect } = await mapRead(urn, of)
        t.strictSame(inOrder(map), inOrder(mapAfter(patches.flat())))
        if (of.before?.fineGrainedLineages) t.match(aspect.fineGrainedLineages, of.before.fineGrainedLineages, 'what no path names is left as it was')
        return t.passing()
      }), { seed, numRuns: 8, endOnFailure: true })

      await fc.assert(fc.asyncProperty(fc.array(stepsOf(of), { maxLength: 8 }), fc.array(stepsOf(of), { maxLength: 8 }), async (one, two) => {
        // Each has keys of its own, or the outcome would be a matter of who was first.
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
        t.strictSame(inOrder((await mapRead(urn, of)).map), inOrder(new Map([...mapAfter(one), ...mapAfter(others)])), 'two at once')
        return t.passing()
      }), { seed, numRuns: 4, endOnFailure: true })
    })
  }
})
