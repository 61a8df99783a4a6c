/** Every row of docs/specification.md is proved by one subtest here, whose title begins with the row's id. */
import t from 'tap'
import { operationRows } from './specification/operations.ts'
import { proposalRows, ruleRows } from './specification/proposals-and-rules.ts'
import { resourceRows } from './specification/resources.ts'
import { serviceAndUrnRows } from './specification/service-and-urns.ts'
import { catalogClient } from './support/catalog-client.ts'
import { withRunningServer } from './support/running-server.ts'

t.test('specification', async (t) => {
  const { url, token, db } = await withRunningServer(t)
  const catalog = catalogClient(url, token)
  for (const { title, prove } of [
    ...serviceAndUrnRows,
    ...resourceRows,
    ...operationRows,
    ...proposalRows,
    ...ruleRows
  ]) {
    await t.test(title, async (t) => {
      await prove(t, catalog, db)
    })
  }
})
