import { type ChildProcess, fork } from 'node:child_process'
import { on, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { childEnvironment, nodeOptions } from '@concordat/test-harness/child'
import type { Received } from './webhook-receiver.ts'

const subscriptions = 3
const drainMs = 120_000

interface Counts {
  readonly pending: number
  readonly unrecorded: number
}

/** The load of a webhook soak test. */
export interface WebhookLoad {
  readonly where: string
  readonly schema: string
  readonly processes: number
  readonly kills: number
  /** The average time that a process emits and delivers before it is killed. */
  readonly lifeMs: number
}

/** The result of a webhook soak test. */
export interface WebhookReport {
  readonly kills: number
  /** The number of events whose `emit` resolved. */
  readonly acknowledged: number
  /** The deliveries of these events that never arrived. */
  readonly lost: number
  /** The deliveries that arrived, of acknowledged events and others. */
  readonly arrived: number
  /** The requests after the first of each delivery. */
  readonly duplicates: number
  /** The duplicates of requests whose sender was still running, and should have stored the outcome. */
  readonly unexplained: number
  /** The requests whose `webhook-id` was not the id of their event. */
  readonly strangers: number
  /** The deliveries whose count of attempts differs from the number of stored attempts. */
  readonly unrecorded: number
}

/**
 * Kills random processes while they emit and deliver, then lets one finish, and compares the acknowledged events with those that arrived.
 */
export async function webhookSoak(load: WebhookLoad): Promise<WebhookReport> {
  const receiver = start('./webhook-receiver.ts', [], { RECORD: 'yes' })
  const [{ address, certificate }] = (await once(receiver, 'message')) as [{ address: { port: number }; certificate: string }]
  const { where, schema } = load
  const words = [JSON.stringify({ where, schema, certificate, subscriptions, urls: `https://localhost:${address.port}` })]
  const acknowledged = new Set<string>()
  const killedAt = new Map<string, number>()
  const stalled = new Set<string>()
  const members: ChildProcess[] = []
  try {
    for (let index = 0; index < load.processes; index += 1) members.push(await startMember())
    while (killedAt.size < load.kills) {
      await delay((load.lifeMs / load.processes) * (0.5 + Math.random()))
      const victim = Math.floor(Math.random() * members.length)
      await killed(members[victim])
      members[victim] = await startMember()
    }
    const unrecorded = await finish()
    receiver.send('take')
    const [{ received }] = (await once(receiver, 'message')) as [{ received: Received[] }]
    return { kills: load.kills, unrecorded, ...compare(received) }
  } finally {
    await Promise.all(members.map(kill))
    receiver.disconnect()
  }

  async function startMember() {
    const member = start('./webhook-process.ts', words)
    member.on('message', ({ acknowledged: id, hasStalled = false }: { acknowledged?: string; hasStalled?: boolean }) => {
      if (id !== undefined) acknowledged.add(id)
      if (hasStalled) stalled.add(String(member.pid))
    })
    await said(member, (message) => message === 'ready')
    return member
  }

  async function killed(member: ChildProcess | undefined) {
    await kill(member)
    killedAt.set(String(member?.pid), Date.now())
  }

  async function finish() {
    const [survivor, ...others] = members as [ChildProcess]
    await Promise.all(others.map(killed))
    const stopped = said(survivor, (message) => message === 'stopped')
    survivor.send('stop')
    await stopped
    for (const end = Date.now() + drainMs; ; await delay(200)) {
      survivor.send('count')
      const { pending, unrecorded } = await said(survivor, isCounts)
      if (pending === 0 || Date.now() > end) return unrecorded
    }
  }

  function compare(received: readonly Received[]) {
    const last = new Map<string, Received>()
    let [duplicates, unexplained, strangers] = [0, 0, 0]
    for (const request of received) {
      const { path, webhookId, emittedId, at } = request
      if (webhookId !== emittedId) strangers += 1
      const before = last.get(`${path} ${emittedId}`)
      last.set(`${path} ${emittedId}`, request)
      if (before === undefined) continue
      duplicates += 1
      if ((killedAt.get(before.sender) ?? Infinity) <= at || stalled.has(before.sender)) continue
      unexplained += 1
      process.stderr.write(`This duplicate has no reason: ${JSON.stringify({ before, request })}\n`)
    }
    const expected = [...acknowledged].flatMap((id) => Array.from({ length: subscriptions }, (_, index) => `/ok/${index} ${id}`))
    const lost = expected.filter((key) => !last.has(key)).length
    return { acknowledged: acknowledged.size, lost, arrived: last.size, duplicates, unexplained, strangers }
  }
}

function start(program: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return fork(fileURLToPath(new URL(program, import.meta.url)), words, {
    env: { ...childEnvironment(), ...env },
    execArgv: [...nodeOptions]
  })
}

async function said<Message>(member: ChildProcess, isWanted: (message: unknown) => message is Message): Promise<Message> {
  // Messages that arrive together are all seen.
  for await (const [message] of on(member, 'message', { close: ['exit'] })) if (isWanted(message)) return message
  throw new Error('A process ended before it sent what the test waits for.')
}

function isCounts(message: unknown): message is Counts {
  return typeof message === 'object' && message !== null && 'pending' in message
}

async function kill(member: ChildProcess | undefined) {
  if (member === undefined || member.exitCode !== null || member.signalCode !== null) return
  const gone = once(member, 'exit')
  member.kill('SIGKILL')
  await gone
}
