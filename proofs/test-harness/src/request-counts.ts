import { createHook } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { OutgoingMessage, ServerResponse } from 'node:http'
import { type HeapProfiler, Session } from 'node:inspector/promises'
import type { Socket } from 'node:net'
import { getHeapSpaceStatistics } from 'node:v8'
import type { FastifyInstance, RouteOptions } from 'fastify'

/** What Fastify ran for a request: hooks, and calls that set, read and remove header fields. */
export interface RequestCounts {
  hooks: number
  headersSet: number
  headersRead: number
  headersRemoved: number
}

/** The memory of a request, in KB. */
export interface RequestMemory {
  readonly allocatedKb: number
  /** What survives the collections of the young generation: what the service stores, and what it keeps longer than it needs. */
  readonly keptKb: number
}

type Hook = (this: unknown, ...words: unknown[]) => unknown
type Methods = Record<string, (...words: unknown[]) => unknown>

const stages = ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'preSerialization', 'onSend'] as const
const counts: RequestCounts = { hooks: 0, headersSet: 0, headersRead: 0, headersRemoved: 0 }
const countedHooks = new WeakSet<object>()
let depth = 0

/** Counts for all services that this process creates from now on. Returns a function that returns the counts since its last call. */
export function countRequests(): () => RequestCounts {
  subscribe('fastify.initialization', (message) => countHooks((message as { fastify: FastifyInstance }).fastify))
  // What goes past Fastify counts too.
  countCalls(OutgoingMessage.prototype as unknown as Methods, {
    headersSet: ['setHeader', 'appendHeader'],
    headersRead: ['getHeader', 'hasHeader'],
    headersRemoved: ['removeHeader']
  })
  // Node.js sets the fields of the head itself.
  countCalls(ServerResponse.prototype as unknown as Methods, { hooks: ['writeHead'] })
  return () => {
    const counted = { ...counts }
    Object.assign(counts, { hooks: 0, headersSet: 0, headersRead: 0, headersRemoved: 0 })
    return counted
  }
}

const isStage = (name: string) => stages.some((stage) => stage === name)

function countHooks(app: FastifyInstance) {
  // oxlint-disable-next-line typescript/unbound-method -- called with the context that the caller has
  const addHook = app.addHook as unknown as (this: unknown, name: string, hook: Hook) => FastifyInstance
  app.addHook = function (this: unknown, name: string, hook: Hook) {
    if (name === 'onRoute') return addHook.call(this, name, countingHooksOfRoute(hook))
    return addHook.call(this, name, isStage(name) ? counted(hook) : hook)
  } as typeof app.addHook
  app.addHook('onRoute', () => {})
  // The prototype of replies is only reachable by a reply.
  app.addHook('onRequest', function countHeaders(_request, reply, done) {
    let prototype = Object.getPrototypeOf(reply) as object
    while (!Object.hasOwn(prototype, 'header')) prototype = Object.getPrototypeOf(prototype) as object
    if (!countedHooks.has(prototype)) {
      countedHooks.add(prototype)
      countCalls(prototype as Methods, {
        headersSet: ['header', 'headers'],
        headersRead: ['getHeader', 'getHeaders', 'hasHeader'],
        headersRemoved: ['removeHeader']
      })
    }
    // This hook itself.
    counts.hooks -= 1
    done()
  })
}

/** Plugins add hooks to a route in their own onRoute hooks, so the hooks of a route are counted after each of these. */
function countingHooksOfRoute(onRoute: Hook): Hook {
  return function (this: unknown, ...words) {
    const result = onRoute.apply(this, words)
    const route = words[0] as RouteOptions & Record<string, unknown>
    for (const stage of stages)
      if (route[stage] !== undefined) route[stage] = [route[stage]].flat().map((hook) => counted(hook as Hook)) as never
    return result
  }
}

function counted(hook: Hook): Hook {
  if (countedHooks.has(hook)) return hook
  const counting: Hook = function (...words) {
    counts.hooks += 1
    return hook.apply(this, words)
  }
  countedHooks.add(counting)
  return counting
}

function countCalls(prototype: Methods, names: Partial<Record<keyof RequestCounts, readonly string[]>>) {
  for (const [count, methods] of Object.entries(names)) {
    for (const name of methods) {
      const method = prototype[name] as Hook
      prototype[name] = function (this: unknown, ...words: unknown[]) {
        // A call that another one makes is not counted again.
        if (depth === 0 && count !== 'hooks') counts[count as keyof RequestCounts] += 1
        depth += 1
        try {
          return method.apply(this, words)
        } finally {
          depth -= 1
        }
      }
    }
  }
}

// As many as a service has at once: some mistakes keep requests only while there are several.
const lanes = 6
const times = 1200
const sampledTimes = 120

/**
 * Measures the memory of a request and of its client. What is allocated is sampled. What is kept is the growth of the old generation, so the process
 * needs {@link memoryOptions}.
 */
export async function measureMemory(request: () => Promise<unknown>): Promise<RequestMemory> {
  const send = (count: number) =>
    Promise.all(
      Array.from({ length: lanes }, async () => {
        for (let sent = 0; sent < count; sent += lanes) await request()
      })
    )
  // Compiles the code, and fills the caches.
  await send(times)
  const before = oldBytes()
  await send(times)
  const kept = oldBytes() - before
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 2048,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true
  })
  await send(sampledTimes)
  const { profile } = await session.post('HeapProfiler.stopSampling')
  session.disconnect()
  return { allocatedKb: Math.round(bytesOf(profile.head) / sampledTimes / 1024), keptKb: Math.round(kept / times / 1024) }
}

/**
 * The options of Node.js for a process that measures what survives: a heap that is large from the beginning, so that the old generation is not
 * collected, and a small young generation, so that it is collected often.
 */
export const memoryOptions: readonly string[] = ['--initial-heap-size=1000', '--max-semi-space-size=2', '--conditions=@concordat/source']

/**
 * Counts how many functions of the packages of this repository a request calls. The coverage of V8 counts them, so the number is the same on every
 * machine and under every load. What runs beside requests, by a timer, is left out.
 */
export async function countCallsOfPackages(request: () => Promise<unknown>): Promise<number> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await request()
  await session.post('Profiler.takePreciseCoverage')
  for (let sent = 0; sent < sampledTimes; sent += 1) await request()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
  const counted = result.filter(({ url }) => /\/packages\/[^/]+\/src\//.test(url)).flatMap(({ functions }) => functions)
  return counted.reduce((sum, { ranges: [whole] }) => sum + Math.round((whole?.count ?? 0) / sampledTimes), 0)
}

/** Returns the size of what has survived the collections of the young generation, in bytes. */
export function oldBytes(): number {
  const old = getHeapSpaceStatistics().filter(({ space_name }) => !space_name.startsWith('new'))
  return old.reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}

function bytesOf({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + bytesOf(child), selfSize)
}

const runs = 20

/** Returns how many promises a request creates, beside its own: the fewest of some runs, because timers create some beside them. */
export async function countPromises(request: () => Promise<unknown>): Promise<{ readonly promises: number }> {
  let created = 0
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') created += 1
    }
  })
  const counts: number[] = []
  for (let run = 0; run < runs; run += 1) {
    created = 0
    hook.enable()
    await request()
    hook.disable()
    // The promise of the request, and that with which it is awaited.
    counts.push(created - 2)
  }
  return { promises: Math.min(...counts) }
}

/** Returns a function that measures how many bytes a request sends to a port: the fewest of some runs. Call it before the connections are made. */
export function countSentBytes(port: number): (request: () => Promise<unknown>) => Promise<number> {
  const sockets = new Set<Socket>()
  subscribe('net.client.socket', (message) => {
    const { socket } = message as { readonly socket: Socket }
    socket.once('connect', () => socket.remotePort === port && sockets.add(socket))
  })
  const sum = () => [...sockets].reduce((total, { bytesWritten }) => total + bytesWritten, 0)
  return async (request) => {
    const counts: number[] = []
    for (let run = 0; run < runs; run += 1) {
      const before = sum()
      await request()
      counts.push(sum() - before)
    }
    return Math.min(...counts)
  }
}
