import { join } from 'node:path'
import openapi from '@concordat/openapi'
import { descriptionDigest } from '@concordat/openapi/diff'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { handler, type Loose } from './shop.ts'

const known = 'sha-256=:AT5xssPTAXQOATiti1g4m9W0UxYlWy2bQUWyg9WCk38=:'

/** Returns the levels of the lines about the digest, after the description was read twice. */
async function levels(t: Test, environment: string, digestOf: (own: string) => string) {
  const { NODE_ENV: before } = process.env
  process.env['NODE_ENV'] = environment
  t.teardown(() => {
    process.env['NODE_ENV'] = before
  })
  const plain = Fastify()
  await plain.register(openapi, { lint: 'off' })
  plain.get('/v1/orders', handler)
  const document: Loose = (await plain.inject('/v1/openapi')).json()
  t.equal(document['x-digest'], descriptionDigest(document))

  const lines: { level: number; msg: string }[] = []
  const app = Fastify({ logger: { level: 'info', stream: { write: (line: string) => lines.push(JSON.parse(line)) } } })
  await app.register(openapi, {
    released: t.testdir({ 'digests.json': JSON.stringify({ v1: digestOf(document['x-digest']) }) }),
    lint: 'off'
  })
  app.get('/v1/orders', handler)
  for (let count = 0; count < 2; count += 1) await app.inject('/v1/openapi')
  return lines.filter(({ msg }) => msg.includes('is not its released one')).map(({ level }) => level)
}

t.test('a description that is not the released one is one line in the log, in production a warning', async (t) => {
  t.strictSame(await levels(t, 'test', () => known), [30])
  t.strictSame(await levels(t, 'production', () => known), [40])
  t.strictSame(await levels(t, 'test', (own) => own), [])
})

t.test('before the first release, the start says that nothing is stored, and nothing is sent', async (t) => {
  const lines: { level: number; msg: string }[] = []
  const app = Fastify({ logger: { level: 'info', stream: { write: (line: string) => lines.push(JSON.parse(line)) } } })
  await app.register(openapi, { released: join(t.testdir({}), 'released'), lint: 'off' })
  app.get('/v1/orders', handler)
  t.equal((await app.inject('/v1/orders')).headers['description-digest'], undefined)
  t.match(lines, [{ level: 30, msg: /released has no released description\. Store one with npx concordat release\./ }])
})

t.test('digests that cannot be read stop the start', async (t) => {
  for (const [content, problem] of [
    ['{', /options\.released: .*digests\.json cannot be read: .* Write it with npx concordat release/],
    ['[]', /does not have a digest for each version/],
    ['{"v1":"abc"}', /does not have a digest for each version/]
  ] as const) {
    const released = t.testdir({ 'digests.json': content })
    await t.rejects(async () => Fastify().register(openapi, { released }), problem, content)
  }
})

const documentOf = (properties: object, more: object = {}): Loose => ({
  openapi: '3.1.1',
  info: { title: 'Shop', version: '1.0.0' },
  paths: {},
  components: { schemas: { Order: { type: 'object', properties, ...more } } }
})

t.test('the digest does not depend on the order of members, and names are not taken for keywords', (t) => {
  const text = { type: 'string' }
  const usual = descriptionDigest(documentOf({ a: text, description: text }))
  const same: Record<string, Loose> = {
    'another order': documentOf({ description: text, a: text }),
    'a text': documentOf({ a: { ...text, description: 'It.', examples: ['a'], deprecated: true }, description: text }),
    'an extension of limits': documentOf({ a: { ...text, 'x-max-bytes': 5 }, description: text }),
    'servers and tags': { ...documentOf({ a: text, description: text }), servers: [{ url: '/' }], tags: [{ name: 'a' }] },
    'its own digest': { ...documentOf({ a: text, description: text }), 'x-digest': known }
  }
  for (const [name, document] of Object.entries(same)) t.equal(descriptionDigest(document), usual, name)
  const others: Record<string, Loose> = {
    'a member that is called description': documentOf({ a: text }),
    'a member that is called examples': documentOf({ a: text, description: text, examples: text }),
    'a component that is called headers': { ...documentOf({ a: text, description: text }), components: { schemas: { headers: text } } },
    'a value of an enumeration': documentOf({ a: text, description: { enum: [{ description: 'a' }] } }),
    'another value of it': documentOf({ a: text, description: { enum: [{ description: 'b' }] } }),
    'a required member': documentOf({ a: text, description: text }, { required: ['a'] })
  }
  const all = [usual, ...Object.values(others).map(descriptionDigest)]
  t.equal(new Set(all).size, all.length, Object.keys(others).join())
  t.end()
})
