import paginationQuery, { collection, type ListQuery, type Operator, type Page } from '@concordat/pagination-query'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { secret } from './orders.ts'
import type { Database } from './sample-table.ts'

interface Column {
  /** The type of the column in PostgreSQL. */
  readonly type: string
  /** The field, declared by its JSON form alone. */
  readonly schema: object
  /** The values in the form of PostgreSQL. Many rows have each. */
  readonly values: readonly string[]
  readonly operators?: readonly Operator[]
  /** A text that the type does not have. */
  readonly refused?: string
}

const text = { type: 'string', maxLength: 20 }
const cases = ['a', 'A', 'ab', 'a b', 'b', 'É', 'é', '', '%', 'a\\b']
const numbers = ['0.1', '0.2', '0.3', '-1.1', '16777217', '0.7', '1e-7', '33.333333']
const equal: readonly Operator[] = ['eq', 'ne', 'in', 'nin']
const prefixed: readonly Operator[] = [...equal, 'prefix']

const columns: Readonly<Record<string, Column>> = {
  plain: { type: 'text', schema: text, values: cases, operators: prefixed },
  limited: { type: 'varchar(20)', schema: text, values: cases, operators: prefixed },
  padded: { type: 'char(10)', schema: text, values: cases, operators: prefixed },
  caseless: { type: 'citext', schema: text, values: cases, operators: prefixed },
  accentless: { type: 'text collate accentless', schema: text, values: cases, operators: prefixed },
  address: { type: 'address', schema: text, values: ['a@b', 'A@b', 'c@d'], operators: prefixed },
  state: {
    type: 'state',
    schema: { type: 'string', enum: ['active', 'done', 'waiting'] },
    values: ['waiting', 'active', 'done'],
    operators: equal
  },
  mood: { type: 'state', schema: text, values: ['waiting', 'active', 'done'], operators: equal, refused: 'glad' },
  host: {
    type: 'inet',
    schema: { type: 'string', maxLength: 43 },
    values: ['10.0.0.2', '10.0.0.10', '::1'],
    operators: equal,
    refused: '10.0.0.256'
  },
  reference: {
    type: 'uuid',
    schema: { type: 'string', maxLength: 36 },

    values: ['018f4e2a-7c1b-7d3e-9a5f-000000000001', 'ffffffff-7c1b-7d3e-9a5f-000000000001'],
    operators: equal,
    refused: 'abc'
  },
  written: { type: 'text', schema: { type: 'string', format: 'uuid' }, values: ['018f4e2a-7c1b-7d3e-9a5f-000000000001'], operators: equal },
  single: { type: 'real', schema: { type: 'number' }, values: numbers, operators: equal },
  double: { type: 'float8', schema: { type: 'number' }, values: [...numbers, '1e20'], operators: equal },
  exact: { type: 'numeric', schema: { type: 'number' }, values: ['1.10', '1.1', '-3.5', '0.1'], operators: equal },
  written_out: {
    type: 'numeric(30,2)',
    schema: { type: 'string', format: 'decimal' },

    values: ['12345678901234567890.10', '12345678901234567890.20'],
    operators: equal
  },
  counted: { type: 'integer', schema: { type: 'number' }, values: ['1', '2', '-2147483648'], operators: equal },
  short: { type: 'smallint', schema: { type: 'integer' }, values: ['1', '-32768'], operators: equal },
  long: {
    type: 'bigint',
    schema: { type: 'integer' },

    values: ['9007199254740992', '9007199254740993', '9007199254740994', '-9223372036854775808'],
    operators: equal
  },
  digits: {
    type: 'bigint',
    schema: { type: 'string', format: 'int64', maxLength: 20 },

    values: ['9007199254740993', '9007199254740992', '7'],
    operators: equal
  },
  whole: { type: 'numeric(12,2)', schema: { type: 'integer' }, values: ['5.00', '10.00', '9'], operators: equal },
  rounded: { type: 'real', schema: { type: 'integer' }, values: ['16777216', '1234567', '3'], operators: equal },
  marked: { type: 'boolean', schema: { type: 'boolean' }, values: ['t', 'f'], operators: ['eq', 'ne'] },
  day: {
    type: 'date',
    schema: { type: 'string', format: 'date' },

    values: ['2026-03-08', '2026-11-01'],
    operators: equal
  },
  midnight: { type: 'date', schema: { type: 'string', format: 'date-time' }, values: ['2026-03-08', '2026-03-09', '2026-11-01'] },
  // In the time zone of the session, 02:00 to 03:00 does not exist on the first day, and 01:00 to 02:00 exists twice on the second.
  local: {
    type: 'timestamp',
    schema: { type: 'string', format: 'date-time' },
    values: [
      '2026-03-08 01:59:59.999999',
      '2026-03-08 02:30:00.000001',
      '2026-03-08 02:30:00.000002',
      '2026-03-08 03:00',
      '2026-03-08 03:15',
      '2026-03-08 03:30:00.000001',
      '2026-11-01 01:30',
      '9999-12-31 12:00'
    ]
  },
  instant: {
    type: 'timestamptz',
    schema: { type: 'string', format: 'date-time' },
    values: [
      '2026-11-01 01:30:00.000001-04',
      '2026-11-01 01:30:00.000001-05',
      '2026-11-01 01:30:00.000002-05',
      '2026-03-08 07:30Z',
      '0001-01-01 00:00:00Z'
    ]
  },
  missing: {
    type: 'citext',
    schema: { ...text, nullable: true },

    values: ['a', 'A', 'null', 'b'],
    operators: equal
  }
}

const rowCount = 31

/** The columns of the table `things`. */
export const columnNames = Object.keys(columns)
/** The settings of a session in which dates and times have other forms than usual. */
export const session = '-c timezone=America/New_York -c datestyle=SQL,DMY'

/** Returns the statements that create the table. */
export function createThings(): string {
  const rows = Array.from({ length: rowCount }, (_, row) => {
    const values = columnNames.map((name, at) => {
      const { values } = columns[name] as Column
      const value = values[(row + at) % values.length] as string
      return value === 'null' ? 'null' : `'${value}'`
    })
    return `('${idOf(row)}', ${values.join()})`
  })
  return `
    create extension citext;
    create collation accentless (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
    create domain address as text check (value like '%@%');
    create type state as enum ('waiting', 'active', 'done');
    create table things (id uuid primary key, ${columnNames.map((name) => `${name} ${columns[name]?.type}${name === 'missing' ? '' : ' not null'}`).join()});
    insert into things values ${rows.join()}`
}

function idOf(row: number) {
  return `018f4e2a-7c1b-7d3e-9a5f-${String((row * 17) % rowCount).padStart(12, '0')}`
}

type Row = Readonly<Record<string, unknown>>
type Run = (query: ListQuery<Row>) => Promise<Page<Row>>

/** Returns a service whose collection declares only the JSON form of the columns. */
function serve(run: Run) {
  const names = columnNames
  const properties = { id: { type: 'string', format: 'uuid' }, ...Object.fromEntries(names.map((name) => [name, columns[name]?.schema])) }
  const Thing = { type: 'object', required: ['id', ...names.filter((name) => name !== 'missing')], properties }
  const things = collection<Row>(Thing)({
    name: 'things',
    style: 'cursor',
    id: 'id',
    defaultSort: ['id'],
    sort: { keys: ['id', ...names] },
    filter: Object.fromEntries(names.flatMap((name) => (columns[name]?.operators ? [[name, columns[name].operators]] : []))) as Record<
      never,
      never
    >,
    count: 'none'
  })
  const app = Fastify()
  app.register(paginationQuery, { publicUrl: 'https://api.example.com', cursor: { secrets: [secret] } })
  app.after(() => {
    const schema = { response: { 200: { type: 'array', items: Thing } } }
    app.get('/things', { config: { collection: things }, schema }, async (request, reply) =>
      reply.page(await run(request.listQuery(things)))
    )
  })
  return app
}

async function fetchPage(app: FastifyInstance, path: string) {
  const response = await app.inject(path)
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${response.body}`)
  const links = [...String(response.headers['link']).matchAll(/<https:\/\/api\.example\.com([^>]*)>; rel="(\w+)"/g)]
  const ids = response.json<{ id: string }[]>().map(({ id }) => id)
  return { ids, body: response.body, links: new Map(links.map(([, href, rel]) => [rel, href])) }
}

/** Follows the links of a relation from a page to the end, and returns the ids of each page. */
async function walk(app: FastifyInstance, start: string, rel: 'next' | 'prev') {
  const pages: string[][] = []
  for (let path: string | undefined = start; path !== undefined; ) {
    const { ids, links } = await fetchPage(app, path)
    if (ids.length > 0) pages.push(ids)
    if (pages.length > rowCount) throw new Error(`${start}: the walk does not end`)
    path = links.get(rel)
  }
  return pages
}

/** Compares walks and filters of each column with what the database itself sorts and compares. */
export async function checkColumns(
  t: Test,
  database: Database,
  run: Run,
  directions: readonly ('asc' | 'desc')[] = ['asc', 'desc']
): Promise<void> {
  const app = serve(run)
  t.teardown(() => app.close())
  const idsOf = async (rest: string) =>
    (await database.query(`select id::text from things ${rest}`)).rows.map((row) => (row as { id: string }).id)

  for (const name of columnNames) {
    for (const direction of directions) {
      const sort = direction === 'asc' ? name : `-${name}`
      t.test(
        `a walk by ${sort} (${columns[name]?.type}) meets each row once, in the order of the database, in both directions [Q2]`,
        async (t) => {
          const wanted = await idsOf(`order by ${name} ${direction}, id ${direction}`)
          const start = `/things?sort=${sort}&perPage=8&fields=id`
          const forward = await walk(app, start, 'next')
          t.strictSame(forward.flat(), wanted)
          const last = (await fetchPage(app, start)).links.get('last') as string
          t.strictSame((await walk(app, last, 'prev')).toReversed().flat(), wanted)
        }
      )
    }
    const { type } = columns[name] as Column
    const { refused } = columns[name] as Column
    if (refused !== undefined) {
      t.test(`a filter value that ${name} (${type}) cannot have gets 422 [Q6]`, async (t) => {
        for (const parameter of [name, `${name}[ne]`, `${name}[in]`, `${name}[nin]`]) {
          const response = await app.inject(`/things?${parameter}=${refused}`)
          t.strictSame([response.statusCode, response.json().code], [422, 'INVALID_QUERY_PARAMETERS'], response.body)
        }
      })
    }
    const operators = columns[name]?.operators ?? []
    if (operators.length === 0) continue
    t.test(`filters of ${name} (${type}) compare a value that a response shows as the database compares it [Q6]`, async (t) => {
      const met = async (operator: string, value: string) =>
        (await fetchPage(app, `/things?sort=id&perPage=100&${name}${operator}=${encodeURIComponent(value)}`)).ids
      const { body } = await fetchPage(app, `/things?sort=id&perPage=100&fields=${name}`)
      const shown = new Map(
        [...body.matchAll(/"id":"([^"]*)","\w+":("(?:[^"\\]|\\.)*"|[\d.e+-]+|true|false)/g)].map(([, id, json]) => [
          valueOf(json as string),
          id
        ])
      )
      for (const [value, id] of shown) {
        const same = `(select ${name} from things where id = '${id}')`
        const equalIds = await idsOf(`where ${name} = ${same} order by id`)
        const otherIds = await idsOf(`where ${name} is distinct from ${same} order by id`)
        t.strictSame(await met('', value), equalIds, `${name}=${value}`)
        t.strictSame(await met('[ne]', value), otherIds, `${name}[ne]=${value}`)
        if (operators.includes('prefix')) {
          const found = await met('[prefix]', value)
          t.strictSame(
            equalIds.filter((one) => !found.includes(one)),
            [],
            `${name}[prefix]=${value} finds each value that equals it`
          )
        }
      }
      if (!operators.includes('in')) return
      const items = [...shown.keys()].filter((value) => value !== '')
      const list = items.map(itemOf).join()
      const [first = ''] = items
      const otherIds = [...(shown.has('') ? await met('', '') : []), ...(await idsOf(`where ${name} is null`))].toSorted()
      t.strictSame((await met('[nin]', list)).toSorted(), otherIds, `${name}[nin] with every value`)
      t.strictSame(
        await met('[in]', list),
        (await idsOf('order by id')).filter((id) => !otherIds.includes(id)),
        `${name}[in] with every value`
      )
      t.strictSame(await met('[in]', itemOf(first)), await met('', first), `${name}[in] with one value`)
      t.strictSame(await met('[nin]', itemOf(first)), await met('[ne]', first), `${name}[nin] with one value`)
    })
  }
}

// Numbers of JSON have an exponent if they are very small or large; filters have none.
function valueOf(json: string) {
  if (json.startsWith('"')) return JSON.parse(json) as string
  return /\de/.test(json) ? Number(json).toFixed(20) : json
}

function itemOf(value: string) {
  return value.replaceAll(/[\\,]/g, String.raw`\$&`)
}
