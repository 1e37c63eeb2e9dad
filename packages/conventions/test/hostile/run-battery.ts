import { type Case, type Expected, type Http2Case, requestLineOf, stepsOf } from './case.ts'
import { canary, checkResponse, type RequestLine } from './check-response.ts'
import { type ChildServer, startChild } from './child-server.ts'
import { exchange } from './exchange.ts'
import { exchangeHttp2 } from './http2-exchange.ts'
import type { Received, ReceivedResponse } from './response.ts'

/** The result of a case. */
export interface Outcome {
  readonly name: string
  /** Every problem; none if the response meets the contract. */
  readonly problems: readonly string[]
  /** The beginning of the received bytes, for the report. */
  readonly received: string
}

/** The state with which the responses of a run are checked: no Request-Id may occur twice. */
export interface Checks {
  readonly ids: Set<string>
  readonly language?: 'en' | 'es'
}

/** The state that all cases of a run share. */
export interface Run extends Checks {
  /** The process of the servers, replaced after a case has ended it. */
  readonly servers: { child: ChildServer }
}

const batchSize = 25

/** Sends the cases over HTTP/1.1. */
export async function runBattery(cases: readonly Case[], run: Run): Promise<Outcome[]> {
  return inBatches(cases, run, (child, theCase) => runCase(child, theCase, run))
}

/** Sends the cases over HTTP/2. */
export async function runHttp2Battery(cases: readonly Http2Case[], run: Run): Promise<Outcome[]> {
  return inBatches(cases, run, async (child, { name, headers, body, expect }) => {
    const withLanguage = run.language === undefined ? headers : { ...headers, 'accept-language': run.language }
    const received = await exchangeHttp2(child.port('http2'), { headers: withLanguage, ...(body === undefined ? {} : { body }) })
    const { ':method': method, ':path': target } = { ':method': 'GET', ':path': '/v1/things', ...headers }
    const requestLine = { method, target }
    return { name, problems: checkReceived(received, expect, requestLine, run), received: received.bytes.toString('latin1', 0, 1500) }
  })
}

/**
 * Sends the cases in batches, after each of which the process must be alive. If it is not, each case of the batch is sent to its own
 * process, to find the case that ended it.
 */
async function inBatches<One>(cases: readonly One[], { servers }: Run, send: (child: ChildServer, one: One) => Promise<Outcome>) {
  const outcomes: Outcome[] = []
  for (let at = 0; at < cases.length; at += batchSize) {
    const batch = cases.slice(at, at + batchSize)
    const found = await Promise.all(batch.map((one) => send(servers.child, one)))
    if (await servers.child.isAlive()) outcomes.push(...found)
    else {
      for (const one of batch) outcomes.push(await sendAlone(one, send))
      servers.child = await startChild()
    }
  }
  return outcomes
}

async function sendAlone<One>(one: One, send: (child: ChildServer, one: One) => Promise<Outcome>) {
  const child = await startChild()
  const outcome = await send(child, one)
  const alive = await child.isAlive()
  await child.stop()
  return alive ? outcome : { ...outcome, problems: ['the process died', ...outcome.problems] }
}

/** Sends a case and checks the response. */
export async function runCase(child: Pick<ChildServer, 'port'>, theCase: Case, run: Checks): Promise<Outcome> {
  const requestLine = requestLineOf(theCase)
  const received = await receive(child, theCase)
  return {
    name: theCase.name,
    problems: checkReceived(received, theCase.expect, requestLine, run),
    received: received.bytes.toString('latin1', 0, 1500)
  }
}

/** Sends a case and returns everything received. */
export function receive(child: Pick<ChildServer, 'port'>, theCase: Omit<Case, 'expect'>): Promise<Received> {
  const { method } = requestLineOf(theCase)
  return exchange({
    port: child.port(theCase.server ?? 'main'),
    host: theCase.host,
    tls: theCase.tls,
    methods: theCase.methods ?? [method ?? 'UNKNOWN'],
    steps: stepsOf(theCase)
  })
}

/** Returns every problem of the bytes received on the connection of a case. */
export function checkReceived(received: Received, expected: Expected, requestLine: RequestLine, { ids, language }: Checks): string[] {
  const { before = [], closes = false } = expected
  const problems = leakIn(received.bytes)
  if (received.flaw !== undefined) problems.push(`not HTTP: ${received.flaw}`)
  if (received.responses.length !== before.length + 1) problems.push(`${received.responses.length} responses, not ${before.length + 1}`)
  before.forEach((status, index) => {
    const found = received.responses[index]?.status
    if (found !== status) problems.push(`response ${index + 1} has the status ${found}, not ${status}`)
  })
  const response: ReceivedResponse | undefined = received.responses.at(-1)
  if (response === undefined) return [...problems, 'no response']
  problems.push(...checkResponse(response, expected, { ...requestLine, ...(language === undefined ? {} : { language }) }, ids))
  if (closes && !received.closed) problems.push('the connection stays open')
  return problems
}

/** Returns a problem if the bytes contain the canary, in plain text or base64. */
export function leakIn(bytes: Buffer): string[] {
  return bytes.includes(canary) || bytes.includes(Buffer.from(canary).toString('base64').slice(0, -4)) ? ['the canary leaked'] : []
}
