// The generator of overload.ts, a process of its own: sends requests at a fixed rate, however long responses take, and reports each class.
// Its client is written for its cost, which must stay far below that of the service: one request at a time per connection, and of a response
// only the status, Retry-After and the end are read.
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'

interface Settings {
  readonly port: number
  readonly rate: number
  readonly seconds: number
  readonly retries: number
  readonly authorization: string
  readonly products: readonly string[]
  readonly orderId: string
}

interface Sending {
  readonly kind: 'item' | 'list' | 'order'
  readonly request: string
  readonly since: number
  sentAt: number
  triesLeft: number
}

// More connections at once than the backlog of the server has places would be refused by the system and tried again seconds later.
const maxConnections = 500
const goodMs = 1000
const settings = JSON.parse(process.argv[2] ?? '') as Settings
const idle: Connection[] = []
const queue: Sending[] = []
const results = { item: newResult(), list: newResult(), order: newResult() }
let connections = 0
let pending = 0
let lastSentAt = 0

function newResult() {
  return { sent: 0, good: 0, refused: 0, late: 0, failed: 0, lost: 0, times: [] as number[] }
}

class Connection {
  readonly #socket: Socket
  #sending: Sending | undefined
  #received = ''

  constructor() {
    connections += 1
    this.#socket = connect({ port: settings.port, host: '127.0.0.1', noDelay: true })
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (part) => this.#read(String(part)))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      connections -= 1
      if (this.#sending !== undefined) ended(this.#sending, 0, 0)
      this.#sending = undefined
      const position = idle.indexOf(this)
      if (position >= 0) idle.splice(position, 1)
    })
  }

  send(sending: Sending) {
    this.#sending = sending
    this.#socket.write(sending.request)
  }

  #read(part: string) {
    this.#received += part
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#received.slice(0, end).toLowerCase()
    const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1]
    const isWhole = length === undefined ? this.#received.endsWith('\r\n0\r\n\r\n') : this.#received.length >= end + 4 + Number(length)
    if (!isWhole || this.#sending === undefined) return
    const sending = this.#sending
    this.#received = ''
    this.#sending = undefined
    ended(sending, Number(head.slice(9, 12)), Number(/\r\nretry-after: (\d+)/.exec(head)?.[1] ?? 0))
    const next = queue.shift()
    if (next === undefined) idle.push(this)
    else this.send(next)
  }
}

function start(sending: Sending) {
  sending.sentAt = lastSentAt = performance.now()
  const connection = idle.pop()
  if (connection !== undefined) connection.send(sending)
  else if (connections < maxConnections) new Connection().send(sending)
  else queue.push(sending)
}

function ended(sending: Sending, status: number, retryAfterSeconds: number) {
  const result = results[sending.kind]
  const milliseconds = performance.now() - sending.sentAt
  if (status === 503 && sending.triesLeft > 0) {
    sending.triesLeft -= 1
    setTimeout(() => start(sending), retryAfterSeconds * 1000)
    return
  }
  pending -= 1
  if (status >= 200 && status < 300) {
    result.times.push(milliseconds)
    if (milliseconds <= goodMs) result.good += 1
    else result.late += 1
  } else if (status === 503) result.refused += 1
  else if (status === 0) result.lost += 1
  else result.failed += 1
}

function newSending(): Sending {
  const [product = '', other = ''] = [one(settings.products), one(settings.products)]
  const turn = Math.random()
  const since = performance.now()
  const sending = { since, sentAt: since, triesLeft: settings.retries }
  if (turn < 0.1) {
    const body = JSON.stringify({ items: [{ productId: product, quantity: 1 }] })
    const head = `idempotency-key: ${randomUUID()}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n`
    return { ...sending, kind: 'order', request: requestOf('POST', '/v1/orders', head, body) }
  }
  if (turn < 0.2) return { ...sending, kind: 'list', request: requestOf('GET', '/v1/products?perPage=20') }
  if (turn < 0.3) return { ...sending, kind: 'list', request: requestOf('GET', '/v1/orders?perPage=20') }
  return { ...sending, kind: 'item', request: requestOf('GET', turn < 0.65 ? `/v1/products/${other}` : `/v1/orders/${settings.orderId}`) }
}

function requestOf(method: string, path: string, head = '', body = '') {
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${settings.port}\r\nauthorization: ${settings.authorization}\r\n${head}\r\n${body}`
}

function one<Value>(values: readonly Value[]) {
  return values[Math.floor(Math.random() * values.length)]
}

const begun = performance.now()
const cpuBefore = process.cpuUsage()
let arrived = 0
const timer = setInterval(() => {
  const seconds = (performance.now() - begun) / 1000
  const due = Math.floor(Math.min(seconds, settings.seconds) * settings.rate)
  for (; arrived < due; arrived += 1) {
    const sending = newSending()
    results[sending.kind].sent += 1
    pending += 1
    start(sending)
  }
  const isOver = seconds >= settings.seconds && (pending === 0 || seconds > settings.seconds + (settings.retries > 0 ? 180 : 30))
  if (!isOver) return
  clearInterval(timer)
  const cpu = process.cpuUsage(cpuBefore)
  const report = Object.fromEntries(
    Object.entries(results).map(([kind, { times, ...counts }]) => [kind, { ...counts, ...percentiles(times) }])
  )
  const all = percentiles(Object.values(results).flatMap(({ times }) => times))
  process.stdout.write(
    JSON.stringify({
      ...report,
      all,
      seconds: Math.max(settings.seconds, (lastSentAt - begun) / 1000),
      cpuSeconds: (cpu.user + cpu.system) / 1e6,
      open: pending
    }),
    () => process.exit(0)
  )
}, 2)

function percentiles(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0)
  return { p50: at(0.5), p99: at(0.99) }
}
