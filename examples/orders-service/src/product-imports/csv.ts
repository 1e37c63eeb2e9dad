import { pipeline } from 'node:stream'
import { parse } from 'csv-parse'

/** The columns of an import, in any order. */
export const columns = ['name', 'categoryId', 'unitPrice', 'currency', 'unitsInStock'] as const

/** The length of the longest line. */
export const maxLineBytes = 10_000

/** A line of a file, which continues where a quoted field has line breaks. */
export interface CsvLine {
  /** The number of the line in which it ends. */
  readonly line: number
  /** The fields; none if it is not CSV. Then it is the last one. */
  readonly fields: readonly string[]
  /** How many bytes were read. */
  readonly bytes: number
}

/** Reads CSV (RFC 4180) line by line, the header first. A byte order mark, other line ends and empty lines are ignored. */
export async function* linesOf(file: AsyncIterable<Uint8Array>): AsyncGenerator<CsvLine> {
  let validLines: number | undefined
  let count = 0
  let last: CsvLine = { line: 0, fields: [], bytes: 0 }
  const parser = parse({
    bom: true,
    info: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    // Where a quote is missing, the rest of the file would be one field.
    max_record_size: maxLineBytes,
    // An error would destroy the stream, with the lines before it that were not read yet.
    skip_records_with_error: true,
    on_skip: () => void (validLines ??= parser.info.records)
  })
  // An error of the file is thrown by the loop.
  pipeline(file, parser, () => {})
  for await (const { info, record } of parser as AsyncIterable<{ info: { lines: number; bytes: number }; record: string[] }>) {
    if (count === validLines) break
    count += 1
    last = { line: info.lines, fields: record, bytes: info.bytes }
    yield last
  }
  if (validLines !== undefined) yield { line: last.line + 1, fields: [], bytes: last.bytes }
}

/** Returns whether the first line of a file has the columns of an import. */
export async function hasHeader(file: AsyncIterable<Uint8Array>): Promise<boolean> {
  for await (const { fields } of linesOf(file)) return fields.length === columns.length && columns.every((name) => fields.includes(name))
  return false
}
