import { stringify } from 'csv-stringify/sync'

const columns = ['id', 'customerId', 'status', 'placedAt', 'shippedAt', 'total', 'currency', 'note']

/**
 * Writes orders as CSV (RFC 4180). A field that a spreadsheet would evaluate as a formula, such as a note that begins with `=`, gets an
 * apostrophe before it: otherwise the author of a note could run a formula on the machine of its reader.
 */
export async function* csvOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  yield `${columns.join(',')}\r\n`
  for await (const orders of chunks)
    yield stringify(JSON.parse(`[${orders}]`), { columns, record_delimiter: 'windows', escape_formulas: true })
}
