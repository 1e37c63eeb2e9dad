import type { Answer, Received } from './answer.ts'
import { type Case, type Expected, type Http2Case, requestLineOf, stepsOf } from './case.ts'
import { type Asked, canary, checkAnswer } from './check-answer.ts'
import { type ChildServer, startChild } from './child-server.ts'
import { exchange } from './exchange.ts'
import { exchangeHttp2 } from './http2-exchange.ts'

/** What became of one case. */
export interface Outcome {
  readonly name: string
  /** Everything that is wrong; none when the contract held. */
  readonly problems: readonly string[]
  /** The beginning of what came back, to be read by people. */
  readonly received: string
}

/** What the answers to all cases of a run are checked by: no Request-Id may come twice. */
export interface Checks {
  readonly ids: Set<string>
  readonly language?: 'en' | 'es'
}

/** What all cases of a run share. */
export interface Run extends Checks {
  /** The process of the servers, replaced when a case has killed it. */
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
    const asked = { method, target }
    return { name, problems: checkReceived(received, expect, asked, run), received: received.bytes.toString('latin1', 0, 1500) }
  })
}

/**
 * Some at a time, and after them the process must still live. After a death, each of them is sent to a process of its own, so
 * that the killer is known.
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

/** Sends one case and checks what comes back. */
export async function runCase(child: Pick<ChildServer, 'port'>, theCase: Case, run: Checks): Promise<Outcome> {
  const asked = requestLineOf(theCase)
  const received = await receive(child, theCase)
  return {
    name: theCase.name,
    problems: checkReceived(received, theCase.expect, asked, run),
    received: received.bytes.toString('latin1', 0, 1500)
  }
}

/** Sends one case and returns what comes back. */
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

/** Everything that is wrong with what came back on the connection of a case. */
export function checkReceived(received: Received, expected: Expected, asked: Asked, { ids, language }: Checks): string[] {
  const { before = [], closes = false } = expected
  const problems = leakIn(received.bytes)
  if (received.flaw !== undefined) problems.push(`no HTTP: ${received.flaw}`)
  if (received.answers.length !== before.length + 1) problems.push(`${received.answers.length} answers, not ${before.length + 1}`)
  before.forEach((status, index) => {
    const found = received.answers[index]?.status
    if (found !== status) problems.push(`answer ${index + 1} has the status ${found}, not ${status}`)
  })
  const answer: Answer | undefined = received.answers.at(-1)
  if (answer === undefined) return [...problems, 'no answer']
  problems.push(...checkAnswer(answer, expected, { ...asked, ...(language === undefined ? {} : { language }) }, ids))
  if (closes && !received.closed) problems.push('the connection stays open')
  return problems
}

/** A problem when the canary, plain or written otherwise, is among the bytes. */
export function leakIn(bytes: Buffer): string[] {
  return bytes.includes(canary) || bytes.includes(Buffer.from(canary).toString('base64').slice(0, -4)) ? ['the canary leaked'] : []
}
