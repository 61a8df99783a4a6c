/** URNs: every text either parses to what prints as itself, or is refused with a code; no text is slow. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { CatalogError } from '../shared/errors.ts'
import { limits } from '../shared/limits.ts'
import { entityTypes } from '../shared/model/entity-types.ts'
import { exampleUrn } from '../shared/urn/example-urns.ts'
import { fabricTypes } from '../shared/urn/kind-shapes.ts'
import {
  dataFlowOf,
  datasetUrn,
  domainUrn,
  keyOfUrn,
  nameFromUrn,
  environmentOf,
  originOf,
  platformOf,
  schemaFieldParts,
  schemaFieldUrn,
  urnFromKey
} from '../shared/urn/kinds.ts'
import { urnKey } from '../shared/urn/urn-key.ts'
import { entityTypeOf, parseUrn, toUrn, splitUrn, type ParsedUrn } from '../shared/urn/urn.ts'
import { fc } from './support/fast-check.ts'

const printUrn = ({ entityType, parts, isTuple }: Omit<ParsedUrn, 'urn'>): string =>
  isTuple ? `urn:li:${entityType}:(${parts.join(',')})` : `urn:li:${entityType}:${parts[0] ?? ''}`

const orders = 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)'
const flow = 'urn:li:dataFlow:(airflow,nightly,prod)'

/** The code a text is refused with; null where it parses. */
const codeOf = (text: unknown): string | null => {
  try {
    parseUrn(text)
    return null
  } catch (error) {
    if (error instanceof CatalogError) return error.code
    throw error
  }
}

t.test('real URNs parse to their parts', async (t) => {
  const cases: [urn: string, parts: string[]][] = [
    [orders, ['urn:li:dataPlatform:hive', 'shop.orders', 'PROD']],
    [
      'urn:li:dataset:(urn:li:dataPlatform:webdata-direct:marketo-marketo,marketo.activity6,PROD)',
      ['urn:li:dataPlatform:webdata-direct:marketo-marketo', 'marketo.activity6', 'PROD']
    ],
    [
      'urn:li:dataset:(urn:li:dataPlatform:s3,a,b(c,d),e,DEV)',
      ['urn:li:dataPlatform:s3', 'a,b(c,d),e', 'DEV']
    ],
    [
      'urn:li:dataset:(urn:li:dataPlatform:s3,a%2Cb %28c%29,EI)',
      ['urn:li:dataPlatform:s3', 'a%2Cb %28c%29', 'EI']
    ],
    [
      'urn:li:dataset:(urn:li:dataPlatform:mysql,Größe 表 🙂,PROD)',
      ['urn:li:dataPlatform:mysql', 'Größe 表 🙂', 'PROD']
    ],
    [`urn:li:schemaField:(${orders},sum(word_count))`, [orders, 'sum(word_count)']],
    [`urn:li:schemaField:(${orders},a,b)`, [orders, 'a,b']],
    [
      `urn:li:schemaField:(${orders},[version=2.0].[type=struct].a.[type=int].b)`,
      [orders, '[version=2.0].[type=struct].a.[type=int].b']
    ],
    ['urn:li:schemaField:(urn:li:chart:(looker,c1),total)', ['urn:li:chart:(looker,c1)', 'total']],
    [flow, ['airflow', 'nightly', 'prod']],
    [`urn:li:dataJob:(${flow},load,then check)`, [flow, 'load,then check']],
    ['urn:li:mlPrimaryKey:(users,user_id)', ['users', 'user_id']],
    [
      'urn:li:mlModel:(urn:li:dataPlatform:sagemaker,churn,PROD)',
      ['urn:li:dataPlatform:sagemaker', 'churn', 'PROD']
    ],
    ['urn:li:corpuser:jdoe.last@gmail.com', ['jdoe.last@gmail.com']],
    ['urn:li:tag:dbt:has_pii_test', ['dbt:has_pii_test']],
    ['urn:li:tag:a (b), c', ['a (b), c']],
    ['urn:li:domain:test id', ['test id']],
    ['urn:li:domain:(a,b)', ['(a,b)']],
    ['urn:li:moonPhase:full', ['full']],
    ['urn:li:moonPhase:(full,2,(a,b))', ['full', '2', '(a,b)']],
    ['urn:li:moonPhase:(a)b', ['(a)b']],
    ['urn:li:m00n_Phase:x', ['x']]
  ]
  for (const [urn, parts] of cases) {
    const parsed = parseUrn(urn)
    t.ok(isSplitAsParsed(parsed))
    t.same(parsed.parts, parts, urn)
    t.equal(printUrn(parsed), urn)
    t.equal(entityTypeOf(parsed.urn), parsed.entityType)
  }
})

t.test('an invalid URN is refused with its code', async (t) => {
  const cases: [name: string, text: unknown, code: string][] = [
    ['nothing', undefined, 'INVALID_URN'],
    ['a number', 7, 'INVALID_URN'],
    ['an empty text', '', 'INVALID_URN'],
    ['another scheme', 'http://example.com', 'INVALID_URN'],
    ['another namespace', 'urn:xx:domain:a', 'INVALID_URN'],
    ['upper case', 'URN:LI:domain:a', 'INVALID_URN'],
    ['no type', 'urn:li::a', 'INVALID_URN'],
    ['a type in upper case', 'urn:li:Domain:a', 'INVALID_URN'],
    ['no id', 'urn:li:domain:', 'INVALID_URN'],
    ['no colon', 'urn:li:domain', 'INVALID_URN'],
    ['a space before', ' urn:li:domain:a', 'INVALID_URN'],
    ['a space after', 'urn:li:domain:a ', 'INVALID_URN'],
    ['a no-break space after', 'urn:li:domain:a\u00a0', 'INVALID_URN'],
    ['a dataset of two parts', 'urn:li:dataset:(urn:li:dataPlatform:hive,orders)', 'INVALID_URN'],
    ['a dataset without parentheses', 'urn:li:dataset:orders', 'INVALID_URN'],
    ['a dataset whose platform is a name', 'urn:li:dataset:(hive,orders,PROD)', 'INVALID_URN'],
    [
      'a dataset whose platform is of another kind',
      'urn:li:dataset:(urn:li:tag:hive,orders,PROD)',
      'INVALID_URN'
    ],
    ['an unknown environment', 'urn:li:dataset:(urn:li:dataPlatform:hive,orders,prod)', 'INVALID_URN'],
    ['an empty name', 'urn:li:dataset:(urn:li:dataPlatform:hive,,PROD)', 'INVALID_URN'],
    ['an empty platform', 'urn:li:dataset:(urn:li:dataPlatform:,orders,PROD)', 'INVALID_URN'],
    ['something after the parentheses', `${orders}x`, 'INVALID_URN'],
    [
      'a parenthesis that is not closed',
      'urn:li:dataset:(urn:li:dataPlatform:hive,orders(,PROD)',
      'INVALID_URN'
    ],
    ['a parenthesis that was not opened', 'urn:li:tag:a)', 'INVALID_URN'],
    ['a data job whose flow is a dataset', `urn:li:dataJob:(${orders},job)`, 'INVALID_URN'],
    ['a column without path', `urn:li:schemaField:(${orders},)`, 'INVALID_URN'],
    ['a column of no URN', 'urn:li:schemaField:(orders,id)', 'INVALID_URN'],
    ['an empty part of an unknown kind', 'urn:li:moonPhase:(a,,b)', 'INVALID_URN'],
    ['U+0000', 'urn:li:domain:a\u0000b', 'INVALID_CHARACTER'],
    ['a newline', 'urn:li:domain:a\nb', 'INVALID_CHARACTER'],
    ['DEL', 'urn:li:domain:a\u007fb', 'INVALID_CHARACTER'],
    ['a C1 control', 'urn:li:domain:a\u0085b', 'INVALID_CHARACTER'],
    ['a bidi override', 'urn:li:domain:a\u202eb', 'INVALID_CHARACTER'],
    ['a bidi isolate', 'urn:li:domain:a\u2066b', 'INVALID_CHARACTER'],
    ['U+241F', 'urn:li:domain:a\u241fb', 'INVALID_CHARACTER'],
    ['a lone surrogate', 'urn:li:domain:a\ud800b', 'INVALID_CHARACTER'],
    ['17 levels', `urn:li:moonPhase:${'('.repeat(17)}a${')'.repeat(17)}`, 'LIMIT_EXCEEDED']
  ]
  for (const [name, text, code] of cases) t.equal(codeOf(text), code, name)
})

t.test('lengths are counted in bytes of UTF-8, at the limit and one over', async (t) => {
  const domainOf = (bytes: number, character: string): string =>
    'urn:li:domain:'.padEnd(14, ' ') +
    'x'.repeat((bytes - 14) % Buffer.byteLength(character)) +
    character.repeat(Math.floor((bytes - 14) / Buffer.byteLength(character)))
  for (const character of ['x', 'ü', '表', '🙂']) {
    t.equal(codeOf(domainOf(limits.urnMaxBytes, character)), null, character)
    t.equal(codeOf(domainOf(limits.urnMaxBytes + 1, character)), 'LIMIT_EXCEEDED', character)
  }
  const columnOf = (bytes: number): string =>
    `urn:li:schemaField:(${orders},${'c'.repeat(bytes - Buffer.byteLength(`urn:li:schemaField:(${orders},)`))})`
  t.equal(codeOf(columnOf(limits.schemaFieldUrnMaxBytes)), null)
  t.equal(codeOf(columnOf(limits.schemaFieldUrnMaxBytes + 1)), 'LIMIT_EXCEEDED')
  t.equal(
    codeOf(`urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:hive,${'t'.repeat(1100)},PROD),c)`),
    'LIMIT_EXCEEDED',
    "the dataset of a column has a dataset's limit"
  )
})

t.test('an error names the input, and never echoes a text without end', async (t) => {
  const error = t.throws(() => toUrn(`urn:li:Bad:${'x'.repeat(900)}`, 'input.edgesToAdd[3].upstreamUrn'))
  t.match(error, { code: 'INVALID_URN', details: { field: 'input.edgesToAdd[3].upstreamUrn' } })
  t.ok(error instanceof Error && error.message.length < 400)
})

t.test('a first part that is not the URN it must be is answered with one that is', async (t) => {
  const messageOf = (text: string): string => {
    const error = t.throws(() => toUrn(text))
    return error instanceof Error ? error.message : ''
  }
  t.match(
    messageOf('urn:li:dataset:(hive,orders,PROD)'),
    /the first part of a dataset must be a URN such as urn:li:dataPlatform:hive: urn:li:dataset:/
  )
  t.match(
    messageOf('urn:li:dataJob:(nightly,load)'),
    /the first part of a dataJob must be a URN such as urn:li:dataFlow:\(airflow,nightly,PROD\)/
  )
  t.match(
    messageOf('urn:li:schemaField:(orders,id)'),
    /the first part of a schemaField must be a URN such as urn:li:dataset:/
  )
})

/** A part of a tuple: no comma or parenthesis outside of a balanced pair, and not empty. */
const plainText = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map((text) =>
    [...text]
      .filter((character) => !'(),'.includes(character))
      .join('')
      .replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u241f]/gu, '')
      .trim()
  )
  .filter((text) => text !== '' && text.isWellFormed())
const { name: balanced } = fc.letrec<{ name: string }>((tie) => ({
  name: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    plainText,
    fc
      .tuple(plainText, fc.array(tie('name'), { minLength: 0, maxLength: 2 }), plainText)
      .map(([begin, inner, end]) => `${begin}(${inner.join(',')})${end}`),
    fc.tuple(plainText, tie('name')).map((two) => two.join(','))
  )
}))
const platform = plainText.map((name) => `urn:li:dataPlatform:${name}`)
const environment = fc.constantFrom(...fabricTypes)
const dataset = fc
  .tuple(platform, balanced, environment)
  .map(([of, name, at]) => ({ urn: `urn:li:dataset:(${of},${name},${at})`, parts: [of, name, at] }))
const dataFlow = fc
  .tuple(plainText, balanced, plainText)
  .map((parts) => ({ urn: `urn:li:dataFlow:(${parts.join(',')})`, parts }))
const generated = fc
  .oneof(
    dataset,
    dataFlow,
    fc
      .tuple(dataFlow, balanced)
      .map(([{ urn }, job]) => ({ urn: `urn:li:dataJob:(${urn},${job})`, parts: [urn, job] })),
    fc
      .tuple(dataset, balanced)
      .map(([{ urn }, path]) => ({ urn: `urn:li:schemaField:(${urn},${path})`, parts: [urn, path] })),
    fc
      .tuple(fc.constantFrom('chart', 'dashboard', 'mlFeature', 'mlPrimaryKey'), plainText, balanced)
      .map(([kind, first, second]) => ({
        urn: `urn:li:${kind}:(${first},${second})`,
        parts: [first, second]
      })),
    fc
      .tuple(fc.constantFrom('domain', 'tag', 'corpuser', 'container'), balanced)
      .map(([kind, id]) => ({ urn: `urn:li:${kind}:${id}`, parts: [id] }))
  )
  .filter(({ urn }) => Buffer.byteLength(urn) <= limits.urnMaxBytes)

/** What has been parsed is split alike without being checked again. */
function isSplitAsParsed({ urn, entityType, parts }: ParsedUrn): boolean {
  return isDeepStrictEqual(splitUrn(urn), { entityType, parts })
}

t.test('a generated URN parses to the parts it was made of, and prints as itself', async () => {
  fc.assert(
    fc.property(generated, ({ urn, parts }) => {
      const parsed = parseUrn(urn)
      return (
        printUrn(parsed) === urn &&
        isSplitAsParsed(parsed) &&
        JSON.stringify(parsed.parts) === JSON.stringify(parts) &&
        urnFromKey(parsed.entityType, keyOfUrn(parsed.urn)) === urn
      )
    }),
    { numRuns: 3000 }
  )
})

t.test('a mutated URN prints as itself or is refused, never anything else', async () => {
  const mutation = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(3),
    insert: fc.oneof(
      fc.constantFrom('(', ')', ',', ':', '\u0000', '\ud800', '\u241f', ' ', 'urn:li:', '%2C'),
      fc.string({ unit: 'binary', maxLength: 3 })
    )
  })
  fc.assert(
    fc.property(generated, fc.array(mutation, { minLength: 1, maxLength: 4 }), ({ urn }, mutations) => {
      const mutated = mutations.reduce((text, { at, cut, insert }) => {
        const place = Math.floor(at * text.length)
        return text.slice(0, place) + insert + text.slice(place + cut)
      }, urn)
      try {
        const parsed = parseUrn(mutated)
        return printUrn(parsed) === mutated && isSplitAsParsed(parsed)
      } catch (error) {
        return (
          error instanceof CatalogError &&
          error.details.field === 'urn' &&
          JSON.stringify(error.details).isWellFormed()
        )
      }
    }),
    { numRuns: 5000 }
  )
})

t.test('any text at all is parsed or refused', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.anything()), (value) => {
      const code = codeOf(value)
      return code === null || ['INVALID_URN', 'INVALID_CHARACTER', 'LIMIT_EXCEEDED'].includes(code)
    }),
    { numRuns: 2000 }
  )
})

t.test('time grows no faster than length, and what is over the limit is not looked at', async (t) => {
  // processor time, because a busy machine makes a test wait
  const timeOf = (text: string): number => {
    const times = Array.from({ length: 9 }, () => {
      const begin = process.cpuUsage()
      for (let run = 0; run < 300; run += 1) codeOf(text)
      const { user, system } = process.cpuUsage(begin)
      return (user + system) * 1_000
    })
    return Math.min(...times)
  }
  for (const unit of ['(', ')', ',', 'a(', '(,', ':', '%28']) {
    const short = timeOf(`urn:li:moonPhase:${unit.repeat(Math.floor(120 / unit.length))}`)
    const long = timeOf(`urn:li:moonPhase:${unit.repeat(Math.floor(960 / unit.length))}`)
    t.ok(
      long < short * 8 * 6 + 2e6,
      `8 times the length of "${unit}" takes ${(long / short).toFixed(1)} times as long`
    )
  }
  // 100 KB cost no more than what is just over the limit: the length is checked before anything else.
  const over = timeOf(`urn:li:moonPhase:${'('.repeat(2000)}`)
  const farOver = timeOf(`urn:li:moonPhase:${'('.repeat(100_000)}`)
  t.ok(farOver < over * 60 + 5e6, `${(farOver / over).toFixed(1)} times as long`)
})

t.test('an error shows an example of the kind that is wanted', async (t) => {
  const wanted: [field: string, kind: string | undefined, prefix: string][] = [
    ['input.edgesToAdd[0].downstreamUrn', undefined, 'urn:li:dataset:('],
    ['upstreamUrn', undefined, 'urn:li:dataset:('],
    ['domainUrn', undefined, 'urn:li:domain:'],
    ['aspect.domains[0]', undefined, 'urn:li:domain:'],
    ['input.parentDomain', undefined, 'urn:li:domain:'],
    ['aspect.fineGrainedLineages[2].upstreams[1]', undefined, 'urn:li:schemaField:('],
    ['aspect.upstreams[0].query', undefined, 'urn:li:query:'],
    ['aspect.inputDatajobs', 'dataJob', 'urn:li:dataJob:('],
    ['owner_job', undefined, 'urn:li:dataJob:('],
    ['input.resourceUrn', 'domain', 'urn:li:domain:'],
    ['entityUrn', 'chart', 'urn:li:chart:('],
    ['entityUrn', 'somethingNew', 'urn:li:dataset:(']
  ]
  for (const [field, kind, prefix] of wanted) {
    const example = exampleUrn(field, kind)
    t.ok(example.startsWith(prefix), `${field} ${kind}: ${example}`)
    t.equal(parseUrn(example).urn, example)
    for (const text of [undefined, '', 'orders'])
      t.throws(() => parseUrn(text, field, kind), {
        message: new RegExp(example.replaceAll(/[()]/g, '\\$&')),
        details: { field }
      })
  }
  for (const { name: type } of entityTypes)
    t.ok(['dataset', type].includes(parseUrn(exampleUrn('urn', type)).entityType), type)
})

t.test('kinds are made and read', async (t) => {
  const urn = toUrn(orders)
  t.equal(datasetUrn('hive', 'shop.orders'), urn)
  t.equal(datasetUrn('urn:li:dataPlatform:hive', 'shop.orders', 'PROD'), urn)
  t.throws(() => datasetUrn('hive', 'x', 'prod'), { code: 'INVALID_URN' })
  const column = schemaFieldUrn(urn, 'sum(a,b)')
  t.same(schemaFieldParts(column), { parentUrn: urn, fieldPath: 'sum(a,b)' })
  t.throws(() => schemaFieldParts(urn), { code: 'INVALID_URN' })
  const job = toUrn(`urn:li:dataJob:(${flow},load)`)
  t.equal(dataFlowOf(job), flow)
  t.throws(() => dataFlowOf(urn), { code: 'INVALID_URN' })
  t.equal(domainUrn('finance'), 'urn:li:domain:finance')
  t.throws(() => domainUrn('a\nb', 'input.id'), { code: 'INVALID_CHARACTER', details: { field: 'input.id' } })

  t.equal(platformOf(urn), 'urn:li:dataPlatform:hive')
  t.equal(platformOf(column), 'urn:li:dataPlatform:hive')
  t.equal(platformOf(job), 'urn:li:dataPlatform:airflow')
  t.equal(platformOf(toUrn('urn:li:chart:(looker,1)')), 'urn:li:dataPlatform:looker')
  t.equal(
    platformOf(toUrn('urn:li:mlFeatureTable:(urn:li:dataPlatform:feast,t)')),
    'urn:li:dataPlatform:feast'
  )
  t.equal(platformOf(toUrn('urn:li:domain:finance')), null)
  t.equal(originOf(column), 'PROD')
  t.equal(originOf(job), null)
  for (const [cluster, environment] of [
    ['PROD', 'PROD'],
    ['prod', 'PROD'],
    ['Dev', 'DEV'],
    ['team-a', null]
  ] as const) {
    const ofCluster = toUrn(`urn:li:dataFlow:(airflow,nightly,${cluster})`)
    t.equal(environmentOf(ofCluster), environment, ofCluster)
    t.equal(environmentOf(toUrn(`urn:li:dataJob:(${ofCluster},load)`)), environment)
  }
  t.equal(environmentOf(column), 'PROD')
  t.equal(nameFromUrn(urn), 'shop.orders')
  t.equal(nameFromUrn(toUrn(`urn:li:schemaField:(${orders},sum%28a%2Cb%29)`)), 'sum(a,b)')
  t.equal(nameFromUrn(toUrn('urn:li:corpuser:jdoe')), 'jdoe')
  for (const type of ['metric', 'semanticModel'])
    t.equal(nameFromUrn(toUrn(`urn:li:${type}:(urn:li:dataPlatform:dbt,shop,revenue)`)), 'revenue', type)

  t.same(keyOfUrn(urn), { platform: 'urn:li:dataPlatform:hive', name: 'shop.orders', origin: 'PROD' })
  t.same(keyOfUrn(job), { flow, jobId: 'load' })
  t.same(keyOfUrn(toUrn('urn:li:corpuser:jdoe')), { username: 'jdoe' })
  t.same(keyOfUrn(toUrn('urn:li:moonPhase:(full,2)')), { id: '(full,2)' })
  t.throws(() => urnFromKey('dataset', { platform: 'urn:li:dataPlatform:hive', name: 'x' }), {
    code: 'BAD_REQUEST'
  })
})

t.test('a key is the first 16 bytes of the SHA-256 of the URN', async (t) => {
  t.equal(urnKey(toUrn('urn:li:domain:finance')), urnKey(toUrn('urn:li:domain:finance')))
  t.match(urnKey(toUrn('urn:li:domain:Größe')), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  t.not(urnKey(toUrn('urn:li:domain:a')), urnKey(toUrn('urn:li:domain:b')))
})
