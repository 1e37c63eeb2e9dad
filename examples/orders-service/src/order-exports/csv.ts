import { stringify } from 'csv-stringify/sync'

const columns = ['id', 'customerId', 'status', 'placedAt', 'shippedAt', 'total', 'currency', 'note']

/**
 * Writes orders as CSV (RFC 4180). What a spreadsheet would take for a formula, as a note that begins with `=`, has an apostrophe before
 * it: whoever writes a note would otherwise have it calculated on the machine of who reads it.
 */
export async function* csvOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  yield `${columns.join(',')}\r\n`
  for await (const orders of chunks)
    yield stringify(JSON.parse(`[${orders}]`), { columns, record_delimiter: 'windows', escape_formulas: true })
}
