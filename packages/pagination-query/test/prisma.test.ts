import { adapterSuite, type OpenSample } from '@concordat/pagination-query/adapter-suite'
import { type PrismaDelegate, runPrisma } from '@concordat/pagination-query/prisma'
import { PrismaPg } from '@prisma/adapter-pg'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'
import { generateClient } from './prisma-client.ts'
import { openSampleTable } from './sample-table.ts'

// Prisma's own work makes a walk cost several times what it costs by SQL.
const walks = Math.ceil(Number(process.env['WALKS'] ?? 500) / 2)

interface Client {
  readonly item: PrismaDelegate
  readonly introspected: PrismaDelegate
  readonly ticket: PrismaDelegate
  $disconnect(): Promise<void>
}

const models = `
model Item {
  id        String   @id @db.Uuid
  title     String
  status    String
  rating    Int?
  price     Decimal
  createdAt DateTime @map("created_at") @db.Timestamptz(6)
  day       DateTime? @db.Date
  views     BigInt
  active    Boolean
  @@map("item")
}
model Introspected {
  id         String   @id @db.Uuid
  title      String
  status     String
  rating     Int?
  price      Decimal
  created_at String
  day        DateTime? @db.Date
  views      BigInt
  active     Boolean
  @@map("introspected")
}
enum State {
  waiting
  active
  done
}
model Ticket {
  id     Int    @id
  state  State
  weight Float?
  size   Int?
}`

t.test('Prisma on PostgreSQL', { skip }, async (t) => {
  const pool = await openSchema(t)
  const { rows } = await pool.query('select current_schema() as schema')
  const { schema } = rows[0]
  const { Client } = await generateClient<new (options: object) => Client>(t, models)
  const connect = (timeZone: string) => {
    const options = `-c search_path=${schema} -c timezone=${timeZone}`
    const client = new Client({
      adapter: new PrismaPg({ connectionString: process.env['TEST_DATABASE_URL'] as string, options }, { schema })
    })
    t.teardown(() => client.$disconnect())
    return client
  }
  const client = connect('UTC')

  const openAs = async (model: 'item' | 'introspected'): Promise<OpenSample> => {
    const sample = await openSampleTable(pool)
    await pool.query(`create view ${model} as select * from ${sample.name}`)
    const close = async () => {
      await pool.query(`drop view ${model}`)
      await sample.close()
    }
    return { ...sample, close, run: (query) => runPrisma(client[model], query) }
  }
  adapterSuite(t, { name: 'Prisma', open: () => openAs('item'), finestTime: 'milliseconds' }, { walks })
  adapterSuite(t, { name: 'Prisma with times as text', open: () => openAs('introspected') }, { walks: Math.ceil(walks / 5) })
})
