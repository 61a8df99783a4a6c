/** Values that would be dangerous if they were more than text: addresses, SQL, markup, templates, formulas. */
import { forEach, overGraphql, done, type Probe } from '../probe.ts'

const addresses = {
  'the metadata of a cloud': 'http://169.254.169.254/latest/meta-data/',
  'a server on this machine': '<listener>/called',
  'a file': 'file:///etc/passwd',
  gopher: 'gopher://127.0.0.1:6379/_FLUSHALL',
  'a name with credentials': 'https://admin:secret@example.com/'
} as const

const texts = {
  'a comment of SQL': "x'; drop table entity; --",
  'a union of SQL': "x' union select token_hash from access_token --",
  'a pause of SQL': "x' || pg_sleep(10) || '",
  'a wildcard': '%_\\%',
  markup: '<script>fetch("<listener>/script")</script><img src=x onerror=alert(1)>',
  'a template': '{{7*7}}${7*7}#{7*7}<%= 7*7 %>',
  'a look-up': '${jndi:ldap://127.0.0.1/a}',
  'a formula': '=HYPERLINK("<listener>/formula")',
  'a command': '$(touch /tmp/called); `id` | cat',
  'an external entity': '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'
} as const

const encoded = (text: string): string => encodeURIComponent(text)
/** As it is printed inside of a JSON text. */
const printed = (text: string): string => JSON.stringify(text).slice(1, -1)

const kept = encodeURIComponent('urn:li:dataset:(urn:li:dataPlatform:hive,probe.inside,PROD)')

/** Written as the value of a property of an asset and read back exactly. */
const written = (text: string): Omit<Probe, 'name'> => ({
  method: 'POST',
  path: '/openapi/v3/entity/dataset?async=false',
  body: [
    {
      urn: decodeURIComponent(kept),
      datasetProperties: {
        value: { name: text, description: text, externalUrl: text, customProperties: { [text]: text } }
      }
    }
  ],
  expected: done,
  changes: 'catalog',
  afterwards: [
    {
      path: `/openapi/v3/entity/dataset/${kept}/datasetProperties`,
      expected: { ...done, contains: `"externalUrl":"${printed(text)}"` }
    }
  ]
})

/** The parameters of reads that end in SQL. */
const questions = (text: string): { readonly [name: string]: Omit<Probe, 'name'> } => {
  const sent = encoded(text)
  return {
    'the source of loads': { path: `/loads?source=${sent}`, expected: { ...done, contains: '"loads":[]' } },
    'a short reference': { path: `/resolve?reference=${sent}`, expected: { status: 404, code: 'NOT_FOUND' } },
    'the search of Marquez': {
      path: `/api/v1/search?q=${sent}`,
      expected: { ...done, contains: '"totalCount":' }
    },
    'a namespace of Marquez': {
      path: `/api/v1/namespaces/${sent}/datasets`,
      expected: { status: 404, code: 'NOT_FOUND' }
    },
    'a pattern of URNs': {
      method: 'POST',
      path: '/aspects?action=getCount',
      body: { aspect: 'datasetProperties', urnLike: text },
      expected: { ...done, contains: '"value":' }
    },
    'an aspect name': {
      method: 'POST',
      path: '/aspects?action=getCount',
      body: { aspect: text },
      expected: { ...done, contains: '"value":0' }
    }
  }
}

export const values: readonly Probe[] = [
  ...Object.entries(texts).flatMap(([name, text]) =>
    forEach(questions(text), (probe) => probe, `${name} in`)
  ),
  ...Object.entries(texts).map(([name, text]) =>
    overGraphql({
      name: `${name} in the words of a search`,
      query:
        'query ($q: String!) { searchAcrossEntities(input: { query: $q, filters: [{ field: "platform", values: [$q] }] }) { total } }',
      variables: { q: text },
      code: null
    })
  ),
  ...['degree; drop table entity', "name' or 1=1", '__proto__', 'constructor'].map((field) =>
    overGraphql({
      name: `the filter field ${field}`,
      query:
        'query ($f: String!) { searchAcrossEntities(input: { query: "*", filters: [{ field: $f, values: ["x"] }] }) { total } }',
      variables: { f: field },
      code: 'BAD_REQUEST'
    })
  ),
  ...forEach({ ...addresses, ...texts }, written, 'a value'),
  {
    name: 'addresses in an event of OpenLineage',
    method: 'POST',
    path: '/api/v1/lineage',
    body: {
      eventType: 'COMPLETE',
      eventTime: '2026-01-01T00:00:00Z',
      producer: '<listener>/producer',
      schemaURL: '<listener>/schema',
      run: {
        runId: '01941f29-7c00-7aaa-8000-000000000002',
        facets: {
          extra: { _producer: '<listener>/facet', _schemaURL: '<listener>/facet-schema', url: '<listener>/x' }
        }
      },
      job: { namespace: '<listener>', name: 'called' },
      inputs: [{ namespace: '<listener>', name: 'in' }],
      outputs: [{ namespace: 'http://169.254.169.254', name: 'out' }]
    },
    expected: { status: 201, code: null },
    changes: 'catalog'
  }
]
