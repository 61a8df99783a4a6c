/**
 * Queued writes over both transports: they are loads, applied in the order in which they were sent, and can
 * be followed by trace id.
 */
import t from 'tap'
import { withServer, type RestAnswer } from './support/server.ts'

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`

type Json = { [name: string]: unknown }

const traceIdOf = ({ headers }: RestAnswer): string => String(headers.traceparent).split('-')[1] ?? ''

t.test('queued writes', async (t) => {
  const { rest, tokenWith, db } = await withServer(t, { withWorker: true })
  const post = (name: string, body: unknown, more = '', token?: string) =>
    rest({ method: 'POST', url: `/openapi/v3/entity/${name}${more}`, body, ...(token ? { token } : {}) })
  const traceOnce = (traceId: string, wanted: Json, more = '', token?: string) =>
    rest({
      method: 'POST',
      url: `/openapi/v1/trace/write/${traceId}?onlyIncludeErrors=false&detailed=true${more}`,
      body: wanted,
      ...(token ? { token } : {})
    })
  const isPending = ({ body }: RestAnswer) => JSON.stringify(body).includes('PENDING')
  const trace = async (traceId: string, wanted: Json, token?: string) => {
    let answer = await traceOnce(traceId, wanted, '', token)
    while (isPending(answer)) answer = await traceOnce(traceId, wanted, '', token)
    return answer.body
  }
  const read = async (urn: string, aspect: string) =>
    (await rest({ url: `/openapi/v3/entity/dataset/${encodeURIComponent(urn)}/${aspect}` })).body?.value
  const described = (urn: string, description: string) => ({
    urn,
    datasetProperties: { value: { description } }
  })

  t.test(
    'a write is queued by default, answered 202 with its content, and its load is in /loads',
    async (t) => {
      const urn = dataset('queued')
      const answer = await post('dataset', [described(urn, 'queued')])
      t.match(answer, {
        status: 202,
        body: [{ urn, datasetProperties: { value: { description: 'queued' } } }]
      })
      t.match(await trace(traceIdOf(answer), { [urn]: ['datasetProperties'] }), {
        [urn]: {
          datasetProperties: {
            success: true,
            primaryStorage: { writeStatus: 'ACTIVE_STATE' },
            searchStorage: { writeStatus: 'ACTIVE_STATE' }
          }
        }
      })
      t.match(await read(urn, 'datasetProperties'), { description: 'queued' })
      t.match((await rest({ url: '/loads?limit=1' })).body.loads, [
        { state: 'done', format: 'mcp', source: 'proposal', counts: { received: 1, applied: 1 } }
      ])
      const patched = await rest({
        method: 'PATCH',
        url: '/openapi/v3/entity/dataset',
        body: [
          {
            urn,
            datasetProperties: { value: { patch: [{ op: 'add', path: '/customProperties/a', value: '1' }] } }
          }
        ]
      })
      t.match(patched, { status: 202, body: [{ urn, datasetProperties: {} }] })
      await trace(traceIdOf(patched), { [urn]: ['datasetProperties'] })
      t.match(await read(urn, 'datasetProperties'), { description: 'queued', customProperties: { a: '1' } })
    }
  )

  t.test('a queued write is answered with its system metadata on request', async (t) => {
    const urn = dataset('metadata')
    const answer = await post(
      'dataset',
      [
        {
          urn,
          status: {
            value: { removed: false },
            systemMetadata: { runId: 'r1', properties: { clientId: 'c' } }
          }
        }
      ],
      '?systemMetadata=true'
    )
    const auditStamp = { time: Number, actor: /^urn:li:corpuser:/ }
    t.match(answer, {
      status: 202,
      body: [
        {
          urn,
          status: {
            value: { removed: false },
            systemMetadata: {
              runId: 'r1',
              properties: { clientId: 'c', telemetryTraceId: traceIdOf(answer) }
            },
            auditStamp
          }
        }
      ]
    })
    const url = `/openapi/v3/entity/dataset/${encodeURIComponent(urn)}/datasetProperties?async=true`
    const single = await rest({
      method: 'POST',
      url: `${url}&systemMetadata=true`,
      body: { value: { description: 'd' } }
    })
    t.match(single, {
      status: 202,
      body: {
        urn,
        datasetProperties: {
          value: { description: 'd' },
          systemMetadata: { properties: { telemetryTraceId: traceIdOf(single) } },
          auditStamp
        }
      }
    })
    const patched = await rest({
      method: 'PATCH',
      url: `${url}&systemMetadata=true`,
      body: { patch: [{ op: 'add', path: '/description', value: 'e' }] }
    })
    t.match(patched, {
      status: 202,
      body: {
        urn,
        datasetProperties: {
          value: undefined,
          systemMetadata: { properties: { telemetryTraceId: traceIdOf(patched) } }
        }
      }
    })
    await trace(traceIdOf(patched), { [urn]: ['datasetProperties'] })
    const without = await rest({
      method: 'POST',
      url: `${url}&createIfNotExists=false`,
      body: { value: { description: 'f' } }
    })
    t.match(without.body, {
      urn,
      datasetProperties: { value: { description: 'f' }, systemMetadata: undefined, auditStamp: undefined }
    })
    await trace(traceIdOf(without), { [urn]: ['datasetProperties'] })
  })

  t.test('a queued write for a version that no aspect has is shown as an error in its trace', async (t) => {
    const urn = dataset('no version')
    const answer = await post('dataset', [
      { urn, status: { value: { removed: false }, headers: { 'If-Version-Match': '-10000' } } }
    ])
    t.equal(answer.status, 202)
    t.match(await trace(traceIdOf(answer), { [urn]: ['status'] }), {
      [urn]: {
        status: {
          success: false,
          primaryStorage: { writeStatus: 'ERROR', writeMessage: /Expected version -10000, actual version -1/ }
        }
      }
    })
  })

  t.test('writes of one aspect are applied in the order they were sent, queued or not', async (t) => {
    const urn = dataset('ordered')
    const answers: RestAnswer[] = []
    for (let index = 0; index < 10; index += 1)
      answers.push(await post('dataset', [described(urn, String(index))]))
    t.equal((await post('dataset', [described(urn, 'last')], '?async=false')).status, 200)
    for (const answer of answers)
      t.match(await trace(traceIdOf(answer), { [urn]: ['datasetProperties'] }), {
        [urn]: { datasetProperties: { success: true, primaryStorage: { writeStatus: 'HISTORIC_STATE' } } }
      })
    t.match(await read(urn, 'datasetProperties'), { description: 'last' })
  })

  t.test(
    'a queued record that cannot be applied is an error in its trace and a reject of its load, and the others are applied',
    async (t) => {
      const [urn, other] = [dataset('refused'), dataset('applied')]
      const answer = await post('dataset', [
        {
          urn,
          status: { value: { removed: false } },
          domains: { value: { domains: ['urn:li:domain:nowhere'] } }
        },
        described(other, 'fine')
      ])
      t.equal(answer.status, 202)
      const wanted = { [urn]: ['status', 'domains'], [other]: ['datasetProperties'] }
      t.match(await trace(traceIdOf(answer), wanted), {
        [urn]: {
          domains: {
            success: false,
            primaryStorage: { writeStatus: 'ERROR', writeMessage: /MISSING_REFERENCE: .*nowhere/ }
          },
          status: { success: true }
        },
        [other]: { datasetProperties: { success: true, primaryStorage: { writeStatus: 'ACTIVE_STATE' } } }
      })
      const errors = await rest({
        method: 'POST',
        url: `/openapi/v1/trace/write/${traceIdOf(answer)}`,
        body: wanted
      })
      t.same(Object.keys(errors.body), [urn], 'errors alone, where nothing else is asked for')
      t.same(Object.keys(errors.body[urn]), ['domains'])
      const [load] = (await rest({ url: '/loads?limit=1' })).body.loads
      t.match(load, { state: 'done', counts: { received: 3, applied: 2, rejected: 1 } })
      t.match((await rest({ url: `/loads/${load.id}/rejects` })).text, /"code":"MISSING_REFERENCE"/)
    }
  )

  t.test('an invalid write is refused before it is queued', async (t) => {
    const urn = dataset('wrong')
    t.match(await post('dataset', [{ urn, upstreamLineage: { value: { upstreams: [{}] } } }]), {
      status: 400,
      body: { error: 'Validation Error' }
    })
    const proposal = {
      entityType: 'dataset',
      entityUrn: urn,
      changeType: 'UPSERT',
      aspectName: 'status',
      aspect: { json: {} }
    }
    t.match(
      await rest({
        method: 'POST',
        url: '/aspects?action=ingestProposal',
        body: { proposal: { ...proposal, changeType: 'NO' }, async: 'true' }
      }),
      { status: 422 }
    )
    t.match(
      await rest({
        method: 'POST',
        url: '/aspects?action=ingestProposal',
        body: { proposal, async: 'maybe' }
      }),
      { status: 400, body: { field: 'async' } }
    )
    t.equal(
      (await rest({ url: `/loads?limit=100` })).body.loads.filter(
        (load: { state: string }) => load.state !== 'done'
      ).length,
      0
    )
  })

  t.test('RestLi queues the same way, a batch as one load', async (t) => {
    const proposals = Array.from({ length: 20 }, (_, index) => ({
      entityType: 'dataset',
      entityUrn: dataset(`batch${index}`),
      changeType: 'UPSERT',
      aspectName: 'upstreamLineage',
      aspect: {
        value: JSON.stringify({
          upstreams: index === 0 ? [] : [{ dataset: dataset(`batch${index - 1}`), type: 'COPY' }]
        }),
        contentType: 'application/json'
      }
    }))
    const created = proposals.map(({ entityUrn }) => ({
      entityType: 'dataset',
      entityUrn,
      changeType: 'UPSERT',
      aspectName: 'status',
      aspect: { value: '{"removed":false}', contentType: 'application/json' }
    }))
    const answer = await rest({
      method: 'POST',
      url: '/aspects?action=ingestProposalBatch',
      body: { proposals: [...proposals, ...created], async: 'true' }
    })
    t.match(answer, { status: 200, body: { value: 'success' } })
    const states = await trace(
      traceIdOf(answer),
      Object.fromEntries(proposals.map(({ entityUrn }) => [entityUrn, ['upstreamLineage', 'status']]))
    )
    t.equal(Object.keys(states).length, 20)
    for (const state of Object.values(states))
      t.match(state, {
        upstreamLineage: { success: true, primaryStorage: { writeStatus: 'ACTIVE_STATE' } },
        status: { success: true }
      })
    t.match(
      await read(dataset('batch19'), 'upstreamLineage'),
      { upstreams: [{ dataset: dataset('batch18') }] },
      'references within a request hold in any order'
    )
    const again = await rest({
      method: 'POST',
      url: '/aspects?action=ingestProposalBatch',
      body: { proposals, async: 'true' }
    })
    t.match(await trace(traceIdOf(again), { [dataset('batch3')]: ['status'] }), {
      [dataset('batch3')]: { status: { success: true } }
    })
  })

  t.test('a write that changes nothing is a success that says so', async (t) => {
    const urn = dataset('same')
    await trace(traceIdOf(await post('dataset', [described(urn, 'same')])), { [urn]: ['datasetProperties'] })
    t.match(
      await trace(traceIdOf(await post('dataset', [described(urn, 'same')])), {
        [urn]: ['datasetProperties']
      }),
      { [urn]: { datasetProperties: { success: true, primaryStorage: { writeStatus: 'NO_OP' } } } }
    )
  })

  t.test(
    'a write that was not queued has a trace as well, and an id that nothing was written under is unknown',
    async (t) => {
      const urn = dataset('immediate')
      const answer = await post('dataset', [described(urn, 'now')], '?async=false')
      t.match(await trace(traceIdOf(answer), { [urn]: ['datasetProperties'] }), {
        [urn]: { datasetProperties: { success: true, primaryStorage: { writeStatus: 'ACTIVE_STATE' } } }
      })
      const later = traceIdOf(await rest({ url: '/config' }))
      t.match(await trace(later, { [urn]: ['datasetProperties'], [dataset('absent')]: ['status'] }), {
        [urn]: { datasetProperties: { primaryStorage: { writeStatus: 'UNKNOWN' } } },
        [dataset('absent')]: { status: { primaryStorage: { writeStatus: 'UNKNOWN' } } }
      })
    }
  )

  t.test('the trace of a load of another token shows no more than its aspects do', async (t) => {
    const urn = dataset('private')
    const [writer, reader] = [await tokenWith(['write']), await tokenWith(['read'])]
    const answer = await post(
      'dataset',
      [{ urn, domains: { value: { domains: ['urn:li:domain:nowhere'] } } }],
      '',
      writer
    )
    t.match(await trace(traceIdOf(answer), { [urn]: ['domains'] }, writer), {
      [urn]: { domains: { primaryStorage: { writeStatus: 'ERROR' } } }
    })
    t.match(await trace(traceIdOf(answer), { [urn]: ['domains'] }, reader), {
      [urn]: { domains: { primaryStorage: { writeStatus: 'UNKNOWN' } } }
    })
  })

  t.test('a token that is limited to a domain does not get around its limit by the queue', async (t) => {
    for (const id of ['mine', 'theirs'])
      await post(
        'domain',
        [{ urn: `urn:li:domain:${id}`, domainProperties: { value: { name: id } } }],
        '?async=false'
      )
    const urn = dataset('theirs')
    await post(
      'dataset',
      [
        {
          urn,
          status: { value: { removed: false } },
          domains: { value: { domains: ['urn:li:domain:theirs'] } }
        }
      ],
      '?async=false'
    )
    const limited = await tokenWith(['write'], { domainUrn: 'urn:li:domain:mine' })
    t.match(await post('dataset', [described(urn, 'stolen')], '?async=false', limited), {
      status: 403,
      body: { error: 'Authorization Error' }
    })
    const answer = await post('dataset', [described(urn, 'stolen')], '', limited)
    t.equal(answer.status, 202)
    t.match(await trace(traceIdOf(answer), { [urn]: ['datasetProperties'] }, limited), {
      [urn]: {
        datasetProperties: {
          success: false,
          primaryStorage: { writeStatus: 'ERROR', writeMessage: /FORBIDDEN/ }
        }
      }
    })
    t.equal(await read(urn, 'datasetProperties'), undefined)
    t.match(
      await rest({
        method: 'DELETE',
        url: `/openapi/v3/entity/dataset/${encodeURIComponent(urn)}`,
        token: limited
      }),
      { status: 403 }
    )
  })

  t.test('a load that was cancelled is shown as an error in its trace', async (t) => {
    const urn = dataset('cancelled')
    const answer = await post('dataset', [described(urn, 'cancelled')])
    await trace(traceIdOf(answer), { [urn]: ['datasetProperties'] })
    await db.raw("update load set state = 'cancelled' where trace_id = ?::uuid", [traceIdOf(answer)])
    t.match(await trace(traceIdOf(answer), { [urn]: ['datasetProperties'] }), {
      [urn]: {
        datasetProperties: {
          success: false,
          primaryStorage: { writeStatus: 'ERROR', writeMessage: /cancelled/ }
        }
      }
    })
  })

  t.test(
    'a request for a trace is limited in size, and names that cannot be stored are refused',
    async (t) => {
      const ask = (body: Json) =>
        rest({ method: 'POST', url: `/openapi/v1/trace/write/${'0'.repeat(32)}`, body })
      t.match(await ask({ [dataset('a')]: ['a\0'] }), { status: 400, body: { code: 'INVALID_CHARACTER' } })
      t.match(
        await ask(
          Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [dataset(`t${index}`), []]))
        ),
        { status: 400, body: { limit: 'proposalsPerBatchMaxCount' } }
      )
    }
  )
})
