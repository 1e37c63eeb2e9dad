import { createSampleTable, type OpenSample, type SampleRow } from '@concordat/pagination-query/testing'

/** The common interface of `pg` and PGlite. */
export interface Database {
  query(text: string, values?: unknown[]): Promise<{ rows: object[] }>
}

let made = 0

/** Creates a sample table. `name` is unique in the run. */
export async function openSampleTable(database: Database): Promise<{ name: string } & Pick<OpenSample, 'insert' | 'delete' | 'close'>> {
  made += 1
  const name = `sample_${process.pid}_${made}`
  await database.query(createSampleTable(name))
  return {
    name,
    insert: async (rows) => {
      await database.query(
        `insert into ${name} select * from jsonb_to_recordset($1::text::jsonb) as rows (id uuid, title text, status text, rating integer, price numeric, created_at timestamptz, day date, views bigint, active boolean)`,
        [JSON.stringify(rows.map(({ createdAt, ...row }: SampleRow) => ({ ...row, created_at: createdAt })))]
      )
    },
    delete: async (ids) => {
      await database.query(`delete from ${name} where id = any($1::uuid[])`, [ids])
    },
    close: async () => {
      await database.query(`drop table ${name}`)
    }
  }
}
