import type { Answer, Received } from './answer.ts'
import { type Case, requestLineOf, stepsOf } from './case.ts'
import { canary, checkAnswer } from './check-answer.ts'
import { type ChildServer, startChild } from './child-server.ts'
import { exchange } from './exchange.ts'

/** What became of one case. */
export interface Outcome {
  readonly name: string
  /** Everything that is wrong; none when the contract held. */
  readonly problems: readonly string[]
  /** The beginning of what came back, to be read by people. */
  readonly received: string
}

/** What all cases of a run share: no Request-Id may come twice. */
export interface Run {
  readonly ids: Set<string>
  readonly language?: 'en' | 'es'
}

const batchSize = 10

/**
 * Sends the cases to a process with the named servers, ten at a time, and asks after each ten whether the process still lives.
 * After a death, each of the ten is sent to a process of its own, so that the killer is known.
 */
export async function runBattery(servers: readonly string[], cases: readonly Case[], run: Run): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  let child = await startChild(servers)
  for (let at = 0; at < cases.length; at += batchSize) {
    const batch = cases.slice(at, at + batchSize)
    const found = await Promise.all(batch.map((theCase) => runCase(child, theCase, run)))
    if (await child.isAlive()) outcomes.push(...found)
    else {
      outcomes.push(...(await runAlone(servers, batch, run)))
      child = await startChild(servers)
    }
  }
  await child.stop()
  return outcomes
}

async function runAlone(servers: readonly string[], batch: readonly Case[], run: Run) {
  const outcomes: Outcome[] = []
  for (const theCase of batch) {
    const child = await startChild(servers)
    const outcome = await runCase(child, theCase, run)
    const alive = await child.isAlive()
    outcomes.push(alive ? outcome : { ...outcome, problems: ['the process died', ...outcome.problems] })
    await child.stop()
  }
  return outcomes
}

/** Sends one case and checks what comes back. */
export async function runCase(child: Pick<ChildServer, 'port'>, theCase: Case, run: Run): Promise<Outcome> {
  const { method, target } = requestLineOf(theCase)
  const received = await exchange({
    port: child.port(theCase.server ?? 'main'),
    host: theCase.host,
    tls: theCase.tls,
    methods: theCase.methods ?? [method ?? 'UNKNOWN'],
    steps: stepsOf(theCase)
  })
  const problems = checkReceived(received, theCase, run)
  return { name: theCase.name, problems, received: received.bytes.toString('latin1', 0, 1500) }
}

/** Everything that is wrong with what came back on the connection of a case. */
export function checkReceived(received: Received, theCase: Case, { ids, language }: Run): string[] {
  const { method, target } = requestLineOf(theCase)
  const { before = [], closes = false } = theCase.expect
  const problems = leakIn(received.bytes)
  if (received.flaw !== undefined) problems.push(`no HTTP: ${received.flaw}`)
  if (received.answers.length !== before.length + 1) problems.push(`${received.answers.length} answers, not ${before.length + 1}`)
  before.forEach((status, index) => {
    const found = received.answers[index]?.status
    if (found !== status) problems.push(`answer ${index + 1} has the status ${found}, not ${status}`)
  })
  const answer: Answer | undefined = received.answers.at(-1)
  if (answer === undefined) return [...problems, 'no answer']
  const asked = { method, target, ...(language === undefined ? {} : { language }) }
  problems.push(...checkAnswer(answer, theCase.expect, asked, ids))
  if (closes && !received.closed) problems.push('the connection stays open')
  return problems
}

/** A problem when the canary, plain or written otherwise, is among the bytes. */
export function leakIn(bytes: Buffer): string[] {
  return bytes.includes(canary) || bytes.includes(Buffer.from(canary).toString('base64').slice(0, -4)) ? ['the canary leaked'] : []
}
