/** A complete request, as a client sent it. */
export interface WireRequest {
  readonly bytes: Buffer
  /** Names the kind of request: the same for requests that differ only in their values. */
  readonly label: string
  /** Whether the server sends a response to it. */
  readonly hasResponse: boolean
}

/** A part of what a server sent. */
export interface WireResponse {
  readonly bytes: Buffer
  /** The number of rows in it. */
  readonly rows: number
  /** The number of statements that it reports as completed. */
  readonly statements: number
  /** Whether it ends the response, belongs to one, or is independent of any. */
  readonly place: 'end' | 'part' | 'apart'
}

/** Functions for one connection, which split the bytes of each direction. A function gets the bytes in pieces of any size. */
export interface WireProtocol {
  requests(): (bytes: Buffer) => WireRequest[]
  responses(): (bytes: Buffer) => WireResponse[]
}

/** Collects bytes, and returns the units whose length `measure` knows. It returns undefined while a unit is incomplete. */
function splitter<Unit>(measure: (bytes: Buffer) => number | undefined, read: (unit: Buffer) => Unit): (bytes: Buffer) => Unit[] {
  let rest = Buffer.alloc(0)
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    const units: Unit[] = []
    for (let length = measure(rest); length !== undefined && length <= rest.length; length = measure(rest)) {
      units.push(read(rest.subarray(0, length)))
      rest = rest.subarray(length)
    }
    return units
  }
}

const cancelRequest = 80_877_102
const parts =
  /\b(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|LISTEN|pg_notify|INSERT INTO|DELETE FROM|UPDATE|FROM|JOIN)\b(?: +"?([a-z_][\w.]*)(?![\w.(]))?/g
const withoutTable = new Set(['BEGIN', 'COMMIT', 'ROLLBACK', 'pg_notify'])
const maxNameLength = 160

/** Names statements by what they do to which tables, for example `BEGIN, INSERT INTO orders`. */
function nameOf(sql: string) {
  const ownNames = new Set([...sql.matchAll(/\b(\w+) AS (?:MATERIALIZED )?\(/g)].map(([, name]) => name))
  const found = [...sql.matchAll(parts)].flatMap(([, verb = '', table]) => {
    if (withoutTable.has(verb)) return [verb]
    return table === undefined || ownNames.has(table) ? [] : [`${verb} ${table}`]
  })
  const name = found.length > 0 ? [...new Set(found)].join(', ') : sql.replaceAll(/\s+/g, ' ')
  return name.slice(0, maxNameLength)
}

/** PostgreSQL 3.0 without TLS. A request is what ends with Query or Sync, and its response ends with ReadyForQuery. */
export const postgresProtocol: WireProtocol = {
  requests() {
    const statements = new Map<string, string>()
    let isStarted = false
    // The name of the request that began the open transaction: a COMMIT is another one for each kind of transaction.
    let transaction: string | undefined
    let texts: string[] = []
    let group: Buffer[] = []

    const frames = splitter(
      (bytes) => {
        const lengthAt = isStarted ? 1 : 0
        return bytes.length < lengthAt + 4 ? undefined : bytes.readInt32BE(lengthAt) + lengthAt
      },
      (frame): WireRequest | undefined => {
        if (!isStarted) {
          isStarted = true
          const isCancel = frame.readInt32BE(4) === cancelRequest
          return { bytes: frame, label: isCancel ? 'cancel' : 'connect', hasResponse: !isCancel }
        }
        const type = String.fromCharCode(frame[0] as number)
        const [first = '', second = ''] = frame.toString('utf8', 5).split('\0')
        // A password belongs to `connect`, and Terminate has no response.
        if (type === 'p' || type === 'X') return { bytes: frame, label: type === 'p' ? 'password' : 'end', hasResponse: false }
        if (type === 'Q') texts.push(first)
        if (type === 'P') {
          statements.set(first, second)
          texts.push(second)
        }
        if (type === 'B' && second !== '') texts.push(statements.get(second) ?? '')
        group.push(frame)
        if (type !== 'Q' && type !== 'S') return undefined
        const text = [...new Set(texts)].join('; ')
        const name = nameOf(text)
        const label = transaction === undefined ? name : `${name} (in ${transaction})`
        if (/^BEGIN\b/.test(text) && !/\bCOMMIT\b/.test(text)) transaction = name
        if (/^(COMMIT|ROLLBACK)\b(?! TO)|;\s*COMMIT$/.test(text)) transaction = undefined
        const request = { bytes: Buffer.concat(group), label, hasResponse: true }
        texts = []
        group = []
        return request
      }
    )
    return (bytes) => frames(bytes).flatMap((request) => request ?? [])
  },
  responses() {
    return splitter(
      (bytes) => (bytes.length < 5 ? undefined : bytes.readInt32BE(1) + 1),
      (frame): WireResponse => {
        const type = String.fromCharCode(frame[0] as number)
        // Authentication needs a reply before the connection is ready, and notices and notifications arrive at any time.
        const place = type === 'Z' ? 'end' : 'RNA'.includes(type) ? 'apart' : 'part'
        return { bytes: frame, rows: type === 'D' ? 1 : 0, statements: type === 'C' ? 1 : 0, place }
      }
    )
  }
}

function lineEnd(bytes: Buffer, from: number) {
  const end = bytes.indexOf('\r\n', from)
  return end === -1 ? undefined : end + 2
}

/** Returns where a RESP value that begins at `from` ends. */
function respEnd(bytes: Buffer, from = 0): number | undefined {
  const afterLine = lineEnd(bytes, from)
  if (afterLine === undefined) return undefined
  const type = String.fromCharCode(bytes[from] as number)
  const count = Number(bytes.toString('latin1', from + 1, afterLine - 2))
  if (type === '$') return count < 0 ? afterLine : afterLine + count + 2
  if (type !== '*') return afterLine
  let end: number | undefined = afterLine
  for (let item = 0; item < count && end !== undefined; item += 1) end = end < bytes.length ? respEnd(bytes, end) : undefined
  return end
}

/** Redis, RESP2. A request is a command. */
export const redisProtocol: WireProtocol = {
  requests: () => splitter(respEnd, (bytes) => ({ bytes, label: bytes.toString('utf8').split('\r\n')[2] ?? '', hasResponse: true })),
  responses: () => splitter(respEnd, (bytes) => ({ bytes, rows: 1, statements: 1, place: 'end' }))
}

/** Returns the length of a message with Content-Length, or without a body. */
function messageLength(bytes: Buffer) {
  const head = bytes.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const [, length = '0'] = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, head)) ?? []
  return head + 4 + Number(length)
}

/** HTTP/1.1 with messages that have a Content-Length or no body. The label of a request includes the `type` in its JSON body. */
export const httpProtocol: WireProtocol = {
  requests: () =>
    splitter(messageLength, (bytes) => {
      const text = bytes.toString('utf8')
      const [method, path] = text.split(' ')
      const [, type = ''] = /"type":"([^"]+)"/.exec(text) ?? []
      return { bytes, label: `${method} ${path} ${type}`, hasResponse: true }
    }),
  responses: () => splitter(messageLength, (bytes) => ({ bytes, rows: 1, statements: 1, place: 'end' }))
}
