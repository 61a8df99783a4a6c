/** P3 where each API process keeps the graph in memory: what one has acknowledged, every other shows; and the judge who says so. */
import t from 'tap'
import { createHistory, type Outcome } from './torture/freshness-history.ts'

const key = 'edge a > b'

/** A history on a clock of its own: each event is one moment after the one before. */
function historyOfMoments() {
  let moment = 0
  const history = createHistory(() => 'no', () => { moment += 1; return moment })
  const shows = (value: string) => [[[key, value]]] as const
  return {
    history,
    write: (value: string) => history.write([[key, value]]),
    acknowledged: (value: string) => history.write([[key, value]])('acknowledged'),
    /** The values that a read which began now would be allowed, judged when `end` is called. */
    read: () => {
      const judges = ['yes', 'no', 'other'].map((value) => ({ value, judge: history.read() }))
      return { allowed: () => judges.filter(({ value, judge }) => judge(shows(value)).length === 0).map(({ value }) => value) }
    }
  }
}

t.test('the judge of freshness', async (t) => {
  t.test('allows nothing but what is there, where nothing has been written', async (t) => {
    t.same(historyOfMoments().read().allowed(), ['no'])
  })

  t.test('refuses what was overwritten before the read began', async (t) => {
    const { acknowledged, read } = historyOfMoments()
    acknowledged('yes')
    t.same(read().allowed(), ['yes'])
    acknowledged('no')
    t.same(read().allowed(), ['no'])
  })

  t.test('allows both sides of a write that is under way', async (t) => {
    const { write, read } = historyOfMoments()
    const end = write('yes')
    t.same(read().allowed(), ['yes', 'no'])
    const during = read()
    end('acknowledged')
    t.same(during.allowed(), ['yes', 'no'])
    t.same(read().allowed(), ['yes'])
  })

  t.test('allows a write that began after the read did, and not one that began after it ended', async (t) => {
    const { acknowledged, read } = historyOfMoments()
    const early = read()
    t.same(read().allowed(), ['no'])
    acknowledged('yes')
    t.same(early.allowed(), ['yes', 'no'])
  })

  t.test('allows either of two writes that overlapped, and what lies before them no more', async (t) => {
    const { write, acknowledged, read } = historyOfMoments()
    acknowledged('other')
    const ends = [write('yes'), write('no')]
    for (const end of ends) end('acknowledged')
    t.same(read().allowed(), ['yes', 'no'])
    acknowledged('other')
    t.same(read().allowed(), ['other'])
  })

  for (const outcome of ['refused', 'unknown'] satisfies Outcome[]) {
    t.test(`takes a write that was ${outcome} for ${outcome === 'refused' ? 'none' : 'one that may yet happen'}`, async (t) => {
      const { write, acknowledged, history, read } = historyOfMoments()
      write('yes')(outcome)
      t.same(read().allowed(), outcome === 'refused' ? ['no'] : ['yes', 'no'])
      acknowledged('other')
      t.same(read().allowed(), outcome === 'refused' ? ['other'] : ['yes', 'other'])
      t.equal(history.settle(), outcome === 'refused' ? 0 : 1)
      acknowledged('no')
      t.same(read().allowed(), ['no'])
    })
  }

  t.test('asks for one of several things, and for a path it asks for an edge', async (t) => {
    const { acknowledged, history } = historyOfMoments()
    acknowledged('yes')
    t.same(history.read()([[[key, 'no'], [key, 'yes']]]), [])
    t.same(history.read()([[[key, 'no'], [key, 'other']], []]), [[[key, 'no'], [key, 'other']], []])
  })

  t.test('forgets nothing that a read may still need', async (t) => {
    const { acknowledged, read } = historyOfMoments()
    const early = read()
    for (let count = 0; count < 500; count += 1) acknowledged(count % 2 === 0 ? 'yes' : 'other')
    t.same(read().allowed(), ['other'])
    t.same(early.allowed(), ['yes', 'no', 'other'])
    acknowledged('yes')
    t.same(read().allowed(), ['yes'])
  })
})
