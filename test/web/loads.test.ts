/** A load in numbers, and the format of a file by its beginning. */
import t from 'tap'
import { fc } from '../support/fast-check.ts'
import { guessFormat, orderOfArtifacts } from '../../web/src/pages/loads/guess-format.ts'
import { outcomeOf, percentDone, rateOf, segmentsOf, waitingOf } from '../../web/src/pages/loads/verdicts.ts'

const countsOf = (applied: number, unchanged: number, rejected: number, waiting: number) => ({
  received: applied + unchanged + rejected + waiting,
  applied,
  unchanged,
  rejected
})

t.test('the bar of a load', async (t) => {
  t.test('has the numbers of the load, is full, and shows every number that is not 0', async (t) => {
    const count = fc.oneof(fc.nat(3), fc.nat(10_000_000))
    fc.assert(
      fc.property(fc.tuple(count, count, count, count), (numbers) => {
        const counts = countsOf(...numbers)
        const segments = segmentsOf(counts)
        const kinds = ['applied', 'unchanged', 'rejected', 'waiting']
        t.strictSame(
          segments.map(({ kind, count: shown }) => [kind, shown]),
          kinds.flatMap((kind, index) => (numbers[index] ? [[kind, numbers[index]]] : []))
        )
        const percents = segments.map(({ percent }) => percent)
        t.ok(percents.every((percent) => percent > 0.4))
        const sum = percents.reduce((all, percent) => all + percent, 0)
        t.ok(segments.length === 0 || Math.abs(sum - 100) < 1e-6)
        t.equal(waitingOf(counts), numbers[3])
        t.equal(percentDone(counts) === 100, counts.received > 0 && numbers[3] === 0)
      })
    )
  })

  t.test('gives the speed, but not for two moments that are too close', async (t) => {
    const before = { counts: countsOf(0, 0, 0, 100), at: 1_000 }
    t.equal(rateOf(before, { counts: countsOf(40, 10, 0, 50), at: 2_000 }), 50)
    t.equal(rateOf(before, { counts: countsOf(40, 10, 0, 50), at: 1_100 }), null)
    t.equal(rateOf(before, { counts: before.counts, at: 9_000 }), null)
    t.equal(rateOf(null, before), null)
  })
})

t.test('the format of a file is detected from its beginning', async (t) => {
  const manifest = '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}}'
  const catalog = '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json"}}'
  const event = '{"eventTime": "2026-01-01T00:00:00Z", "producer": "x", "job": {"name": "a"}, "run": {}}'
  const cases: [string, string, string | null][] = [
    ['a.txt', '{"upstreamUrn": "a", "downstreamUrn": "b"}\n', 'ndjson'],
    ['a.txt', '\uFEFF{"op": "createDomain", "name": "x"}', 'ndjson'],
    ['a.txt', '{"entityType": "dataset", "aspectName": "status"}', 'mcp'],
    ['a.txt', '[{"entityType": "dataset", "aspectName": "status"}]', 'mcp'],
    ['a.txt', `${event}\n${event}`, 'openlineage'],
    ['a.txt', `[\n ${event}]`, 'openlineage'],
    ['a.txt', `{\n  ${event.slice(1)}`, 'openlineage'],
    ['a.txt', '{\r\n  "aspectName": "status"\n}', 'mcp'],
    ['a.txt', 'upstream,downstream\na,b\n', 'csv'],
    ['a.txt', '\uFEFF"resource","domain"\n', 'csv'],
    ['a.txt', 'source;target\n', 'csv'],
    ['a.txt', 'sep=;\r\n"From table";To\r\n', 'csv'],
    ['a.txt', 'upstream_dataset\tdownstream_dataset\n', 'csv'],
    ['a.txt', '[{"upstreamUrn": "a", "downstreamUrn": "b"}]', 'ndjson'],
    ['a.txt', '[\n  {\n    "op": "unsetDomain"', 'ndjson'],
    ['a.tsv', 'anything', 'csv'],
    ['a.csv', 'anything', 'csv'],
    ['a.txt', 'anything', null],
    ['a.txt', '', null],
    ['manifest.json', manifest, 'dbt']
  ]
  for (const [name, head, format] of cases) t.equal(guessFormat(name, head), format, head.slice(0, 40))
  const file = (head: string) => ({ name: 'x', head })
  t.strictSame(orderOfArtifacts([file(catalog), file(manifest)]), [1, 0], 'the manifest first')
  t.equal(orderOfArtifacts([file(catalog)]), null, 'no project without its manifest')
  t.equal(orderOfArtifacts([file(manifest), file(event)]), null)
  t.equal(orderOfArtifacts([file(manifest), file(manifest)]), null)
})

t.test('the outcome of a load', async (t) => {
  const of = (state: 'done' | 'failed' | 'applying' | 'cancelled', rejected: number, more: object = {}) => {
    const {
      tone,
      rejected: which,
      wouldFail
    } = outcomeOf({
      state,
      dryRun: false,
      counts: countsOf(5 - rejected, 0, rejected, 0),
      ...more
    })
    return [tone, which, wouldFail]
  }
  t.strictSame(of('done', 0), ['good', null, false])
  t.strictSame(of('done', 1), ['warn', 'some', false])
  t.strictSame(of('done', 5), ['bad', 'all', false], 'nothing was applied')
  t.strictSame(of('done', 0, { counts: countsOf(0, 0, 0, 0) }), ['good', null, false], 'an empty load')
  t.strictSame(of('failed', 2), ['bad', 'some', false])
  t.strictSame(of('applying', 2), ['', 'some', false], 'rejects are told while it runs')
  t.strictSame(of('cancelled', 0), ['', null, false])
  const report = (wouldFail: boolean) => ({
    dryRun: true,
    report: {
      edges: { added: 0, removed: 0 },
      columnEdges: { added: 0, removed: 0 },
      domains: { created: 0, set: 0, unset: 0 },
      entities: { created: 0, placeholders: 0, byType: [] },
      affected: { assets: { count: 0, urns: [] }, domains: { count: 0, urns: [] }, complete: true },
      wouldFail
    }
  })
  t.strictSame(of('done', 1, report(false)), ['warn', 'some', false])
  t.strictSame(of('done', 1, report(true)), ['bad', 'some', true], 'the load itself would fail')
  t.strictSame(of('done', 0, report(true)), ['bad', null, true])
})
