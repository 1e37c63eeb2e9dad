import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import conditionalCaching from '@concordat/conditional-caching'
import { childEnvironment } from '@concordat/test-harness/child'
import { scaled } from '@concordat/test-harness/scale'
import { type JsonValue, sample } from 'fast-check'
import Fastify from 'fastify'
import t from 'tap'
import { documents, taggingService } from './tagged-documents.ts'

const count = scaled(1000, 10_000)
const seed = Math.floor(Math.random() * 2 ** 31)
const [morning, evening] = ['2026-11-21T09:30:00.000Z', '2031-01-02T23:59:59.999Z']
const run = promisify(execFile)

/** Yields every document that differs from the given document in one place. */
function* changesOf(document: JsonValue): Generator<JsonValue> {
  if (Array.isArray(document)) {
    yield [...document, null]
    for (const [index, member] of document.entries()) {
      yield document.toSpliced(index, 1)
      for (const changed of changesOf(member)) yield document.with(index, changed)
    }
  } else if (typeof document === 'object' && document !== null) {
    yield { ...document, 'another member': 0 }
    for (const [key, member] of Object.entries(document)) {
      const { [key]: _left, ...others } = document as Record<string, JsonValue>
      yield others
      yield { ...others, [`${key} `]: member as JsonValue }
      for (const changed of changesOf(member as JsonValue)) yield { ...document, [key]: changed }
    }
  } else if (typeof document === 'string') yield* [`${document} `, `x${document}`, [document]]
  else if (typeof document === 'number') yield* [document === 0 ? 1 : -document, String(document)]
  else yield* [document !== true, 'null', []]
}

t.test(
  `each of ${count.toLocaleString('en')} documents (seed ${seed}) has the same tag at all times, and every change of content another [C1]`,
  async (t) => {
    const { tagOf } = await taggingService()
    const faults: unknown[] = []
    let changes = 0
    for (const [index, document] of sample(documents, { seed, numRuns: count }).entries()) {
      const tag = await tagOf(document, morning)
      if (tag !== (await tagOf(document, evening))) faults.push({ document })
      const [...changed] = changesOf(document)
      // Up to 50 changes of every tenth document, and one change of each of the others.
      for (const one of index % 10 === 0 ? changed.slice(0, 50) : changed.slice(index % changed.length).slice(0, 1)) {
        changes += 1
        if (tag === (await tagOf(one, morning))) faults.push({ document, one })
      }
    }
    t.strictSame(faults, [])
    t.ok(changes > count, `${changes} changes`)
  }
)

function otherNode() {
  try {
    return fileURLToPath(new URL('bin/node', import.meta.resolve('node-22/package.json')))
  } catch {
    return undefined
  }
}

// Created lazily, because only the two tests below compare other tags with these.
let own: ReturnType<typeof tagsOf> | undefined
const ownTags = () => (own ??= tagsOf(process.execPath, morning))

async function tagsOf(node: string, timestamp: string) {
  const words = [
    '--conditions=@concordat/source',
    fileURLToPath(new URL('tag-process.ts', import.meta.url)),
    String(seed),
    '1000',
    timestamp
  ]
  return JSON.parse((await run(node, words, { env: childEnvironment() })).stdout) as {
    version: string
    hash: string
    tags: string[]
  }
}

t.test(`two processes create the same tags for the same documents (seed ${seed}) at different times [C6]`, async (t) => {
  const [one, other] = await Promise.all([ownTags(), tagsOf(process.execPath, evening)])
  t.strictSame(one, other)
  t.match(one.tags[0], /^"[\w-]{22}"$/)
})

const node22 = process.env['TEST_NODE_22'] ?? otherNode()
const missing = node22 === undefined && 'set TEST_NODE_22 to the path of Node.js 22'
t.test(`two versions of Node.js create the same tags for the same documents (seed ${seed}) [C6]`, { skip: missing }, async (t) => {
  const [one, other] = await Promise.all([ownTags(), tagsOf(String(node22), evening)])
  t.match(other.version, /^v22\./)
  t.not(one.version, other.version)
  t.equal(one.hash, other.hash)
})

t.test('the same content has the same tag as text and as bytes, with any length and any characters [C6]', async (t) => {
  const app = Fastify()
  await app.register(conditionalCaching)
  let text = ''
  app.get('/text', (_request, reply) => reply.type('text/plain').send(text))
  app.get('/bytes', (_request, reply) => reply.type('text/plain').send(Buffer.from(text)))
  const tagAt = async (url: string) => (await app.inject(url)).headers.etag
  const tags = new Set<unknown>()
  for (const characters of ['x', 'ä', '€', '🫖']) {
    for (const length of [1, 20_000, 87_000, 90_000, 400_000]) {
      for (const end of ['', '.']) {
        text = characters.repeat(length / characters.length) + end
        const tag = await tagAt('/text')
        t.equal(tag, await tagAt('/bytes'), `${length} × ${characters}${end}`)
        tags.add(tag)
      }
    }
  }
  t.equal(tags.size, 4 * 5 * 2)
})
