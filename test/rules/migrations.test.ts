/**
 * A migration holds no lock that stops readers or writers of a large table for long: `up` has only statements
 * that change the catalog of Postgres, and neither read nor write the rows of a large table.
 */
import t from 'tap'
import { migrations } from '../../migrations/index.ts'

/** At most some rows for each person, process or token. What reads or writes all of them is short. */
const smallTables = new Set(['access_token', 'web_session', 'sign_in_code', 'domain_rules', 'worker'])

const withoutComments = (script: string): string => script.replaceAll(/--.*$/gm, '')

/** Splits at the commas outside of parentheses. */
const actionsIn = (text: string): string[] => {
  const actions = ['']
  let depth = 0
  for (const char of text) {
    if (char === '(') depth += 1
    if (char === ')') depth -= 1
    if (char === ',' && depth === 0) actions.push('')
    else actions[actions.length - 1] += char
  }
  return actions.map((action) => action.trim())
}

/** Each changes only the catalog of Postgres, whatever is in the table. */
const quickActions = [
  // a constant default is not written into the rows
  /^add column \w+ (?:(?!not null)[\w ])+(\[\])?( collate "C")?( (not null )?default ('[^']*'|-?\d+|true|false|null))?$/,
  /^add constraint \w+ .* not valid$/s,
  // reads all rows, but stops nobody
  /^validate constraint \w+$/,
  /^drop (column|constraint) \w+$/,
  /^alter column \w+ (set default ('[^']*'|-?\d+|true|false)|drop default|drop not null|set statistics \d+)$/
]

/** The statements of a script that may hold a lock on a large table for long. */
function slowStatements(script: string): string[] {
  const made = new Set<string>()
  const isFree = (table = ''): boolean => smallTables.has(table) || made.has(table)
  return withoutComments(script)
    .split(';')
    .map((statement) => statement.trim().replaceAll(/\s+/g, ' '))
    .filter((statement) => {
      if (statement === '' || /^drop (table|index|view) /.test(statement)) return false
      const [, created] = /^create table (\w+) \(/.exec(statement) ?? []
      if (created !== undefined) {
        made.add(created)
        return false
      }
      const [, table, actions = ''] =
        /^(?:alter table|update|create (?:unique )?index \w+ on|delete from|insert into) (\w+) ?(.*)$/s.exec(
          statement
        ) ?? []
      if (isFree(table)) return false
      return !(
        statement.startsWith('alter table') &&
        actionsIn(actions).every((action) => quickActions.some((quick) => quick.test(action)))
      )
    })
}

t.test('no migration after the baseline keeps a lock on a large table for long', async (t) => {
  const [baseline, ...later] = migrations
  t.equal(baseline?.name, '0001-baseline')
  for (const migration of later)
    t.same('up' in migration ? slowStatements(migration.up) : [], [], migration.name)
})

t.test('every migration needs one that is not after it', async (t) => {
  const names = migrations.map(({ name }) => name)
  t.same(names, names.toSorted())
  for (const { name, needs } of migrations) t.ok(names.includes(needs) && needs <= name, name)
})

t.test('the rule refuses what reads or writes the rows of a large table', async (t) => {
  const slow = [
    'update entity set type_id = 1',
    'create index entity_x_idx on entity (x)',
    'alter table entity alter column x set not null',
    'alter table entity alter column x type bigint',
    'alter table entity add column x int not null',
    'alter table entity add column x uuid default gen_random_uuid()',
    'alter table entity add column x int, add constraint entity_x_check check (x > 0)',
    'alter table entity add constraint entity_x_key unique (x)',
    'delete from statement',
    'do $$ begin perform 1; end $$',
    'vacuum full entity'
  ]
  for (const statement of slow) t.not(slowStatements(`${statement};`).length, 0, statement)
})

t.test('the rule allows what only changes the catalog of Postgres', async (t) => {
  const quick = [
    'alter table entity add column x int',
    `alter table entity add column x text collate "C" not null default 'none', drop column y`,
    'alter table entity add constraint entity_x_check check (x > 0) not valid',
    'alter table entity validate constraint entity_x_check',
    'create table made (x int); create index made_x_idx on made (x); insert into made values (1)',
    `update access_token set name = ''; -- update entity`
  ]
  for (const statement of quick) t.same(slowStatements(`${statement};`), [], statement)
})
