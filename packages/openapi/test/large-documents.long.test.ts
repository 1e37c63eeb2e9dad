import { breakingChanges } from '@concordat/openapi/diff'
import t from 'tap'
import type { Loose } from './shop.ts'

const kinds = 700
const ref = (number: number) => ({ $ref: `#/components/schemas/Kind${number % kinds}` })

// Kinds of objects that contain one another, each with unions of several others.
function documentOf(discriminated: boolean, change: (properties: Loose) => unknown = () => undefined): Loose {
  const schemas: Loose = {}
  const paths: Loose = {}
  for (let number = 0; number < kinds; number += 1) {
    const texts = Array.from({ length: 32 }, (_, index) => [
      `text${index}`,
      { type: 'string', maxLength: 100 + index, description: 'A text.' }
    ])
    const properties: Loose = {
      ...(discriminated && { type: { type: 'string', const: `kind${number}` } }),
      ...Object.fromEntries(texts),
      parts: { type: 'array', items: { oneOf: Array.from({ length: 12 }, (_, index) => ref(number * 7 + index * 13)) } },
      other: { anyOf: [{ type: 'null' }, ref(number + 1), ref(number + 2)] }
    }
    change(properties)
    schemas[`Kind${number}`] = { type: 'object', required: discriminated ? ['type'] : [], properties }
    const content = { 'application/json': { schema: ref(number) } }
    paths[`/v1/kinds${number}`] = { post: { requestBody: { content }, responses: { 200: { description: 'One.', content } } } }
  }
  return { openapi: '3.1.1', info: { title: 'Kinds', version: '1.0.0' }, paths, components: { schemas } }
}

const renamed = (document: Loose): Loose => JSON.parse(JSON.stringify(document).replaceAll('Kind', 'Sort'))

// A comparison that takes too long fails by the limit for a file of tests.
for (const discriminated of [true, false])
  t.test(`compares documents of 2 MB whose unions contain one another, ${discriminated ? 'with' : 'without'} constants [V3]`, async (t) => {
    const released = documentOf(discriminated)
    t.ok(JSON.stringify(released).length > 2_000_000)
    t.strictSame(breakingChanges(released, documentOf(discriminated)), [])
    t.strictSame(breakingChanges(released, renamed(released)), [], 'under other names')
    const extended = documentOf(discriminated, (properties) => (properties.added = { type: 'string' }))
    t.strictSame(breakingChanges(released, extended), [], 'with a new field')
    const wider = breakingChanges(
      released,
      documentOf(discriminated, ({ text3 }) => (text3.maxLength = 5000))
    )
    t.ok(wider.some(({ place, problem }) => place.endsWith('text3') && problem === 'its maxLength was 103 and is 5000'))
  })

const object = (properties: Loose): Loose => ({ type: 'object', properties })
const textOf = (maxLength: number): Loose => ({ type: 'string', maxLength })

// Branches of a union without constants, which differ from one another at once, or only deep inside. `maxLength` is what changes in all of them.
const branches: Record<string, (index: number, maxLength: number) => Loose> = {
  flat: (index, maxLength) =>
    object({ last: textOf(maxLength), ...Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`p${n}`, textOf(n + index)])) }),
  deep: (index, maxLength) => object({ list: { type: 'array', items: object({ [`own${index}`]: {}, last: textOf(maxLength) }) } }),
  nested: (index, maxLength) =>
    object({ one: { oneOf: Array.from({ length: 5 }, (_, n) => object({ [`own${index}_${n}`]: textOf(maxLength) })) } })
}

const count = 100

function unionDocument(union: string, branch: (index: number, maxLength: number) => Loose, maxLength: number, first: number): Loose {
  const routeOf = (route: number) => {
    const alternatives = Array.from({ length: count }, (_, index) => branch((index + first) % count, maxLength))
    const schema = { [union]: alternatives.map((one) => ({ ...one, properties: { ...one['properties'], [`route${route}`]: {} } })) }
    return { post: { requestBody: { content: { 'application/json': { schema } } }, responses: { 204: { description: 'None.' } } } }
  }
  const routes = Math.ceil(1_000_000 / JSON.stringify(routeOf(0)).length)
  const paths = Object.fromEntries(Array.from({ length: routes }, (_, route) => [`/v1/unions${route}`, routeOf(route)]))
  return { openapi: '3.1.1', info: { title: 'Unions', version: '1.0.0' }, paths }
}

for (const [kind, branch] of Object.entries(branches))
  for (const union of ['oneOf', 'anyOf'])
    t.test(`compares documents of 1 MB with unions of ${count} ${kind} branches in ${union}, all of which changed [V3]`, async (t) => {
      const released = unionDocument(union, branch, 100, 0)
      for (const first of [0, 1]) {
        const found = breakingChanges(released, unionDocument(union, branch, 90, first))
        const places = new Set(found.map(({ place }) => place.split(' ')[1]))
        t.strictSame([...places], Object.keys(released['paths']), `each route, with the order moved by ${first}`)
      }
    })
