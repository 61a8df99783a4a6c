/** Words of the page that reads SQL. */
import { counted } from './numbers.ts'

export const sqlTexts = {
  title: 'Lineage of SQL',
  hint: 'Paste SQL to see which columns it reads and writes. Nothing is stored, and nothing is run.',
  sql: 'SQL',
  dialect: 'Dialect',
  database: 'Database',
  schema: 'Schema',
  read: 'Read it',
  first: `create view revenue_by_day as
select o.day, sum(o.amount) as revenue, count(*) as orders
from orders o
join customers c on c.id = o.customer_id
where c.country = 'NL'
group by o.day`,
  nothing: 'There is no statement in this text.',
  line: (kind: string, line: number): string =>
    `${kind === 'UNKNOWN' ? 'not read' : kind.replace('_', ' ').toLowerCase()}, line ${line}`,
  result: 'result',
  notStored: 'not in the catalog',
  how: { IDENTITY: 'copied', TRANSFORMATION: 'transformed', AGGREGATION: 'aggregated' } as Record<
    string,
    string | undefined
  >,
  bySchema: 'by the columns of the catalog',
  columns: (count: number): string => counted(count, 'column', 'columns'),
  column: 'Column',
  from: 'Made from',
  heads: { how: 'How', sure: 'Sure' },
  certain: 'certain',
  decide: (names: readonly string[]): string => `Decide which rows there are: ${names.join(', ')}`,
  problem: (line: number, message: string): string => `Line ${line}: ${message}`
}
