/**
 * Lineage of machine learning: from training data through models to their deployments and to agents, by every
 * way in which it can be stated.
 */
import type { JsonObject } from '../shared/model/changes.ts'
import { datasetUrn } from '../shared/urn/kinds.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import { segment } from './support/changes.ts'
import { onBothEngines } from './support/engines.ts'
import { makeAssets } from './support/graph.ts'

const table = (name: string): Urn => datasetUrn('hive', `ml.${name}`)
const model = (name: string): Urn => toUrn(`urn:li:mlModel:(urn:li:dataPlatform:mlflow,${name},PROD)`)
const deployment = (name: string): Urn =>
  toUrn(`urn:li:mlModelDeployment:(urn:li:dataPlatform:sagemaker,${name},PROD)`)
const agent = (name: string): Urn => toUrn(`urn:li:aiAgent:${name}`)

onBothEngines('machine learning', async (t, server) => {
  const propose = (entityUrn: Urn, aspectName: string, aspect: JsonObject, changeType = 'UPSERT') =>
    server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: {
          entityType: entityUrn.split(':')[2],
          entityUrn,
          changeType,
          aspectName,
          aspect: { value: JSON.stringify(aspect), contentType: 'application/json' }
        }
      }
    })
  const put = async (entityUrn: Urn, aspectName: string, aspect: JsonObject, changeType?: string) => {
    const { status, text } = await propose(entityUrn, aspectName, aspect, changeType)
    if (status !== 200) throw new Error(text)
  }
  const read = async (urn: Urn, aspectName: string): Promise<JsonObject> => {
    const { body } = await server.rest({
      url: `/aspects/${encodeURIComponent(urn)}?aspect=${aspectName}&version=0`
    })
    return Object.values(body.aspect as JsonObject)[0] as JsonObject
  }
  /** `degree urn` of each result, sorted. */
  const reached = async (urn: Urn, direction = 'DOWNSTREAM'): Promise<string[]> => {
    const { body } = await server.graphql(
      'query ($input: ScrollAcrossLineageInput) { scrollAcrossLineage(input: $input) { searchResults { degree entity { urn } } } }',
      { input: { urn, direction, count: 100 } }
    )
    return body.data.scrollAcrossLineage.searchResults
      .map(({ degree, entity }: { degree: number; entity: { urn: string } }) => `${degree} ${entity.urn}`)
      .sort()
  }
  const update = async (edges: JsonObject) =>
    (
      await server.graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
        input: { edgesToAdd: [], edgesToRemove: [], ...edges }
      })
    ).body

  const [clean, raw, churn, live, shadow, helper] = [
    table('clean'),
    table('raw'),
    model('churn'),
    deployment('live'),
    deployment('shadow'),
    agent('helper')
  ]
  await makeAssets(server, [clean, raw, churn, live, shadow, helper])
  const training = {
    trainingData: [
      { dataset: clean, motivation: 'all customers', preProcessing: ['without nulls', 'scaled'] },
      { dataset: raw }
    ]
  }

  await t.test('training data leads through the model to its deployments and agents', async (t) => {
    await put(churn, 'mlModelTrainingData', training)
    await put(churn, 'mlModelProperties', { customProperties: {}, deployments: [live, shadow] })
    await put(helper, 'aiAgentDependencies', { models: [churn], skills: [] })
    t.strictSame(await reached(raw), [`1 ${churn}`, `2 ${helper}`, `2 ${live}`, `2 ${shadow}`].sort())
    t.strictSame(await reached(live, 'UPSTREAM'), [`1 ${churn}`, `2 ${clean}`, `2 ${raw}`].sort())
  })

  await t.test('aspects are read as they were written', async (t) => {
    t.strictSame(await read(churn, 'mlModelTrainingData'), training)
    t.match(await read(churn, 'mlModelProperties'), { deployments: [live, shadow] })
  })

  await t.test('what an UPSERT leaves out is no edge any more', async (t) => {
    await put(churn, 'mlModelTrainingData', { trainingData: [{ dataset: clean }] })
    await put(churn, 'mlModelProperties', { customProperties: {}, deployments: [live] })
    t.strictSame(await reached(raw), [])
    t.strictSame(await reached(shadow, 'UPSTREAM'), [])
    t.strictSame(await reached(clean), [`1 ${churn}`, `2 ${helper}`, `2 ${live}`].sort())
  })

  await t.test('a patch adds, describes and removes training data by its dataset', async (t) => {
    const patch = (...operations: JsonObject[]) =>
      put(churn, 'mlModelTrainingData', operations as never, 'PATCH')
    await patch({ op: 'add', path: `/trainingData/${segment(raw)}`, value: { motivation: 'more rows' } })
    t.strictSame(await reached(raw), await reached(clean))
    await patch({ op: 'add', path: `/trainingData/${segment(raw)}/motivation`, value: 'most rows' })
    t.strictSame((await read(churn, 'mlModelTrainingData')).trainingData, [
      { dataset: clean },
      { motivation: 'most rows', dataset: raw }
    ])
    await patch({ op: 'remove', path: `/trainingData/${segment(raw)}` })
    t.strictSame(await reached(raw), [])
  })

  await t.test('people draw and remove the same edges', async (t) => {
    const edges = [
      { upstreamUrn: raw, downstreamUrn: churn },
      { upstreamUrn: churn, downstreamUrn: shadow }
    ]
    t.match(await update({ edgesToAdd: edges }), { data: { updateLineage: true } })
    t.ok((await reached(raw)).includes(`2 ${shadow}`))
    t.strictSame((await read(churn, 'mlModelTrainingData')).trainingData, [
      { dataset: clean },
      { dataset: raw }
    ])
    t.match(await update({ edgesToRemove: edges }), { data: { updateLineage: true } })
    t.strictSame(await reached(raw), [])
    t.match(
      await update({ edgesToAdd: [{ upstreamUrn: live, downstreamUrn: churn }] }),
      { errors: [{ extensions: { reason: 'BAD_REQUEST' } }] },
      'a deployment is never upstream of its model'
    )
  })

  await t.test('ends that do not exist, and records without a dataset, are refused by name', async (t) => {
    const missing = table('never')
    const before = await read(churn, 'mlModelTrainingData')
    const refused: [aspectName: string, aspect: JsonObject, named: string][] = [
      ['mlModelTrainingData', { trainingData: [{ dataset: missing }] }, missing],
      ['mlModelTrainingData', { trainingData: [{ dataset: churn }] }, 'dataset'],
      ['mlModelTrainingData', { trainingData: [{ motivation: 'none' }] }, 'dataset'],
      ['mlModelTrainingData', {}, 'trainingData'],
      ['mlModelProperties', { deployments: [deployment('never')] }, deployment('never')]
    ]
    for (const [aspectName, aspect, named] of refused) {
      const { status, text } = await propose(churn, aspectName, aspect)
      t.ok(status === 422 || status === 400, `${status}`)
      t.ok(text.includes(named), text)
    }
    t.strictSame(await read(churn, 'mlModelTrainingData'), before)
  })

  await t.test('data that a model was evaluated on is kept, and is no lineage', async (t) => {
    const [test, fraud] = [table('test'), model('fraud')]
    await makeAssets(server, [test, fraud])
    const evaluation = { evaluationData: [{ dataset: test }] }
    await put(fraud, 'mlModelEvaluationData', evaluation)
    t.strictSame(await read(fraud, 'mlModelEvaluationData'), evaluation)
    t.strictSame(await reached(test), [])
  })
})
