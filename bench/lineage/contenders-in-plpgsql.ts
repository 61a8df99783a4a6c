/** Contenders that walk hop by hop within one PL/pgSQL function. */
import { checksumSql } from './answers.ts'
import { countedIn, type Contender } from './contender.ts'

const contender = (name: string, functionName: string, declared: string, body: string): Contender => ({
  name,
  givesDegrees: true,
  setup: `
    create function ${functionName}(start int) returns table (count bigint, checksum bigint) language plpgsql as $$
    declare ${declared}
    begin ${body}
    end $$`,
  walk: (tx, { id }) => countedIn(tx, `select * from ${functionName}(?::int)`, [id])
})

const tempTable = contender(
  'PL/pgSQL, temporary table, ON CONFLICT',
  'bench_walk_temp',
  'hop int := 0; found int;',
  `
  create temp table reached (id int primary key, degree int not null) on commit drop;
  create index on reached (degree);
  insert into reached values (start, 0);
  loop
    insert into reached
    select distinct edge.down, hop + 1
    from reached join bench_edge as edge on edge.up = reached.id
    where reached.degree = hop
    on conflict do nothing;
    get diagnostics found = row_count;
    exit when found = 0;
    hop := hop + 1;
  end loop;
  return query select count(*), ${checksumSql} from reached where degree > 0;`
)

const countHop = `
    select count + coalesce(array_length(frontier, 1), 0), checksum + ${checksumSql} into count, checksum
    from (select unnest(frontier) as id, hop as degree) as hopped;`

const arrays = contender(
  'PL/pgSQL, arrays, EXCEPT',
  'bench_walk_arrays',
  'frontier int[] := array[start]; seen int[] := frontier; hop int := 0;',
  `
  count := 0;
  checksum := 0;
  loop
    hop := hop + 1;
    frontier := array(select edge.down from bench_edge as edge where edge.up = any (frontier) except select unnest(seen));
    exit when cardinality(frontier) = 0;
    seen := seen || frontier;${countHop}
  end loop;
  return next;`
)

const antiJoin = contender(
  'PL/pgSQL, array frontier, hash anti-join',
  'bench_walk_anti_join',
  'frontier int[] := array[start]; hop int := 0;',
  `
  create temp table seen (id int not null) on commit drop;
  insert into seen values (start);
  count := 0;
  checksum := 0;
  loop
    hop := hop + 1;
    frontier := array(
      select distinct edge.down from bench_edge as edge
      where edge.up = any (frontier) and not exists (select from seen where seen.id = edge.down));
    exit when cardinality(frontier) = 0;
    insert into seen select unnest(frontier);${countHop}
  end loop;
  return next;`
)

export const contendersInPlpgsql: readonly Contender[] = [tempTable, arrays, antiJoin]
