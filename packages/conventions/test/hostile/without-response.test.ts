import { readFile } from 'node:fs/promises'
import t from 'tap'
import { requestLineOf, stepsOf } from './case.ts'
import { type ChildServer, startChild } from './child-server.ts'
import { exchangeHttp2 } from './http2-exchange.ts'
import type { Received } from './response.ts'
import { checkReceived, leakIn, receive } from './run-battery.ts'
import { type WithoutResponse, withoutResponse } from './without-response.ts'

const servers = ['main', ...new Set(withoutResponse.flatMap(({ server = 'http2' }) => server))]

const child = await startChild(servers)
t.teardown(() => child.stop())

t.test('failures without the envelope leak nothing and leave the process alive', async (t) => {
  const harmless = withoutResponse.filter(({ endsProcess }) => endsProcess !== true)
  // All at the same time, because some end only by a time limit of the server.
  const all = await Promise.all(harmless.map(async (one) => ({ one, received: await send(child, one) })))
  for (const { one, received } of all) {
    t.same(leakIn(received.bytes), [], `${one.name}: no internal text is sent`)
    t.equal(outcomeOf(received, one), one.outcome, `${one.name}: the client gets ${one.outcome}`)
  }
  t.ok(await child.isAlive(), 'the process is alive')
})

t.test('a rejection outside of any request ends the process, as the page says', async (t) => {
  for (const one of withoutResponse.filter(({ endsProcess }) => endsProcess === true)) {
    await send(child, one)
    t.notOk(await child.isAlive(), one.name)
  }
})

t.test('the table on docs/unanswerable.md equals this table', async (t) => {
  const page = await readFile(new URL('../../../../docs/unanswerable.md', import.meta.url), 'utf8')
  const rows = withoutResponse.map(({ name, outcome, reason }) => `| ${name} | ${outcome} | ${reason} |`)
  t.same(
    page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| What ')),
    rows
  )
})

function send(child: ChildServer, { send: bytes = '', http2, staysOpen, ...one }: WithoutResponse) {
  if (http2 !== undefined) return exchangeHttp2(child.port('http2'), http2)
  // The client leaves after the response to a later request.
  const leave = staysOpen ? [() => child.isAlive(), { end: 'reset' } as const] : []
  return receive(child, { ...one, send: [...stepsOf({ send: bytes }), ...leave] })
}

function outcomeOf(received: Received, one: WithoutResponse) {
  const { responses, bytes, flaw } = received
  if (bytes.length === 0) return 'no response'
  if (flaw !== undefined && bytes.toString('latin1').startsWith('HTTP/1.1 200')) return 'an incomplete response'
  const requestLine = requestLineOf({ send: one.send ?? '' })
  const status = responses.at(-1)?.status ?? 0
  const inEnvelope = checkReceived(received, { status, code: 'INTERNAL_ERROR' }, requestLine, { ids: new Set() }).length === 0
  return inEnvelope ? 'the envelope' : 'a response without the envelope'
}
