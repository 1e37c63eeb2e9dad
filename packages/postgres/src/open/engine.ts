import type { PGlite } from '@electric-sql/pglite'
import { columnParsers, scalars } from './column-parsers.ts'

const texts = [25, 1042, 1043]
const byteOrderMark = Buffer.from('\ufeff')
const dataRow = 0x44

/** Lets a PGlite accept and return the values that `pg` does. */
export async function adaptEngine(engine: PGlite): Promise<void> {
  const receive = engine.execProtocol.bind(engine)
  // What `query` and `exec` call.
  engine.execProtocolStream = async (message, options) => {
    const { messages, data } = await receive(message, options)
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    if (bytes.includes(byteOrderMark)) restoreMarks(messages, bytes)
    return messages
  }
  for (const oid of [...texts, ...Object.keys(scalars).map(Number)]) engine.serializers[oid] = serialized
  await readTypes(engine)
}

/** Reads the types of the database, whose arrays are lists. Types that were created since the last time are included. */
export async function readTypes(engine: PGlite): Promise<void> {
  await engine.refreshArrayTypes()
  Object.assign(engine.parsers, scalars, Object.fromEntries(await columnParsers().read((sql) => engine.query(sql))))
}

// As `pg` does, except that a Date is in UTC. PGlite refuses a text for some types, and stores an object as "[object Object]" in a text.
function serialized(value: string | number | bigint | boolean | object): string {
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

type Messages = Awaited<ReturnType<PGlite['execProtocol']>>['messages']

/**
 * Restores U+FEFF at the beginning of values, which the decoder of PGlite removes. A message is a byte for its type, its length in four bytes, and its
 * content: in a row, the number of values in two, and for each its length in four, -1 for NULL (PostgreSQL, chapter 54).
 */
function restoreMarks(messages: Messages, bytes: Buffer): void {
  const rows = messages.filter((message) => message.name === 'dataRow') as unknown as readonly { readonly fields: (string | null)[] }[]
  let row = 0
  for (let start = 0; start < bytes.length; start += 1 + bytes.readInt32BE(start + 1)) {
    if (bytes[start] !== dataRow) continue
    const fields = rows[row++]?.fields ?? []
    let at = start + 7
    for (const [index, text] of fields.entries()) {
      const end = at + 4 + Math.max(bytes.readInt32BE(at), 0)
      if (bytes.subarray(at + 4, end).indexOf(byteOrderMark) === 0) fields[index] = `\ufeff${text}`
      at = end
    }
  }
}
