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
