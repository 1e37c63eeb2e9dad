import { targetWithoutSecrets, textWithoutTokens } from '@concordat/plugin-kit/links'
import * as fc from 'fast-check'
import t from 'tap'

const encode = (text: string) => Buffer.from(text).toString('base64url')
const base64url = (minLength: number, maxLength: number) => fc.stringMatching(new RegExp(`^[\\w-]{${minLength},${maxLength}}$`))
const base64 = (minLength: number, maxLength: number) => fc.stringMatching(new RegExp(`^[A-Za-z0-9+/]{${minLength},${maxLength}}={0,2}$`))

const header = fc
  .tuple(fc.constantFrom('HS256', 'ES256', 'none', 'RSA-OAEP-256'), fc.constantFrom('', ' ', '\n  '), fc.boolean(), fc.string())
  .map(
    ([alg, space, first, kid]) =>
      `{${space}${first ? `"alg":"${alg}","kid":` : '"kid":'}${JSON.stringify(kid)}${first ? '' : `,"alg":"${alg}"`}}`
  )
const jwt = fc
  .tuple(header, fc.constantFrom(3, 5), fc.array(base64url(16, 60), { minLength: 4, maxLength: 4 }))
  .map(([first, count, parts]) => [encode(first), ...parts].slice(0, count).join('.'))
const token = fc.oneof(
  jwt,
  base64url(72, 72).map((text) => `rt_${text}`),
  base64url(74, 140).map((text) => `pr_${text}`),
  fc.tuple(base64url(8, 8), base64url(43, 43)).map(([id, text]) => `ak_${id}_${text}_0a1b2c3d`),
  base64(32, 86).map((text) => `whsec_${text}`),
  base64(86, 86).map((text) => `whsk_${text}`)
)

// The ways to write a character in a URL.
const written = (text: string, depths: readonly number[]) =>
  text
    .split('')
    .map((character, index) => {
      const depth = depths[index % depths.length] as number
      return depth === 0 ? character : `%${'25'.repeat(depth - 1)}${character.charCodeAt(0).toString(16)}`
    })
    .join('')
const spelt = fc.tuple(token, fc.array(fc.constantFrom(0, 0, 0, 1, 2, 3), { minLength: 1 })).map(([text, depths]) => written(text, depths))
const around = fc.constantFrom('', '/', '/v1/orders/', ' ', 'Bearer ', '"', "'", ':', '=', ',', '%20', '%252F', '+', '{"token":"')
const after = fc.constantFrom('', '/', '/items?a=1', ' ', '"', "'", ',', '&b=1', '%20', '"}', '\n    at handler (file.ts:1:2)')

t.test('hides tokens in every spelling and place of a text, and nothing else [S12]', (t) => {
  const property = fc.property(fc.array(fc.tuple(around, spelt, after), { minLength: 1, maxLength: 4 }), (places) => {
    const text = places.map((parts) => parts.join('')).join(' ; ')
    const shown = textWithoutTokens(text)
    // A character of base64 after an unpadded secret belongs to it, such as a slash.
    return shown.split('(hidden)').length === places.length + 1 && places.every(([before]) => shown.includes(before))
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 1000 }))
  t.end()
})

t.test('removes parameters with tokens, and hides tokens in the path [U7]', (t) => {
  const property = fc.property(spelt, (text) => {
    const inPath = targetWithoutSecrets(`/v1/orders/${text}?page=2`)
    t.ok(inPath.startsWith('/v1/orders/(hidden)') && inPath.endsWith('?page=2'), inPath)
    for (const target of [`x=${text}`, `x=1,${text}`, text, `${text}=1`, `a[${text}]=b`, `next=https://a.example/?y=${text}`])
      t.equal(targetWithoutSecrets(`/v1/orders?page=2&${target}`), '/v1/orders?page=2')
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 200 }))
  t.end()
})

t.test('keeps declared filters, cursors, UUIDs and every other text [K2]', (t) => {
  const uuid = fc.uuid()
  const harmless = fc.oneof(
    base64url(1, 1500).filter((text) => !text.includes('rt_') && !text.includes('pr_') && !text.includes('ak_')),
    uuid,
    uuid.map((text) => `rt_${text}`),
    fc.tuple(uuid, uuid).map((texts) => texts.join('.')),
    fc.tuple(base64url(1, 40), base64url(1, 40)).map((texts) => texts.join('.')),
    fc.json().map((text) => `${encode(text)}.b.c`)
  )
  const kept = fc.property(harmless, (text) => {
    t.equal(textWithoutTokens(text), text)
    const target = `/v1/orders/${text}?after=${text}`
    t.equal(targetWithoutSecrets(target), target.slice(0, 2048))
  })
  t.doesNotThrow(() => fc.assert(kept, { numRuns: 500 }))
  const filtered = fc.property(token, fc.constantFrom('note', 'note%5Bin%5D', 'n%6fte'), (text, name) => {
    const target = `/v1/orders?${name}=${encodeURIComponent(text)}&page=2`
    t.equal(targetWithoutSecrets(target, new Set(['note'])), target)
    t.equal(targetWithoutSecrets(target, new Set(['page'])), '/v1/orders?page=2')
  })
  t.doesNotThrow(() => fc.assert(filtered, { numRuns: 200 }))
  t.end()
})

t.test('knows the published examples of tokens, and not what only resembles one', (t) => {
  const rfc7515 =
    'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
  t.equal(textWithoutTokens(`GET /a/${rfc7515}: not found`), 'GET /a/(hidden): not found')
  t.equal(textWithoutTokens('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'), '(hidden)')
  for (const text of [
    'a key is "whsec_" followed by 24 to 64 bytes in base64',
    'whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'rt_express-line-12',
    `part_${'a'.repeat(72)}`,
    `${encode('{"alg":"HS256"}')}.${encode('{}')}`,
    `${encode('{"cursor":1}')}.a.b`,
    '100 % of 1.2.3'
  ])
    t.equal(textWithoutTokens(text), text)
  t.end()
})
