import { hrefOf, targetWithoutSecrets } from '@concordat/plugin-kit/links'
import * as fc from 'fast-check'
import t from 'tap'

// The names that the package guarantees to remove, as words. Clients can join and write them in any form.
const secretNames =
  `access-token api-key api-token assertion auth authorization auth-token bearer client-assertion client-secret code credential
  credentials id-token jwt key passwd password private-key pwd refresh-token secret session session-id sig signature token x-api-key`.split(
    /\s+/
  )

const harmless = fc.stringMatching(/^[a-z]{0,4}=[a-z]{0,6}$/)
const separators = fc.constantFrom('', '-', '_')

// The forms of a name that clients send: letter case, percent escapes, brackets, dots, words before it.
const writtenName = fc
  .record({
    name: fc.constantFrom(...secretNames),
    joint: separators,
    upper: fc.array(fc.boolean(), { minLength: 1 }),
    escaped: fc.array(fc.boolean(), { minLength: 1 }),
    frame: fc.constantFrom(['', ''], ['', '[]'], ['', '[0]'], ['user[', ']'], ['user.', ''], ['my+', ''], ['%5B', '%5D'])
  })
  .map(({ name, joint, upper, escaped, frame: [before, after] }) => {
    const letters = name
      .replaceAll('-', joint)
      .split('')
      .map((letter, i) => {
        const cased = upper[i % upper.length] ? letter.toUpperCase() : letter
        return escaped[i % escaped.length] ? `%${cased.charCodeAt(0).toString(16)}` : cased
      })
    return before + letters.join('') + after
  })

const value = fc.stringMatching(/^[ -%'-~]{0,10}$/).map((noise) => `S3CRET${noise}S3CRET`)
const secret = fc.tuple(writtenName, fc.constantFrom('=', '%3D', '%3d'), value).map((parts) => parts.join(''))

t.test('removes secret values in any form and position of their names [U7]', async (t) => {
  const property = fc.property(
    fc.constantFrom('/orders', '', '/a%2fb', 'http://evil.example/x', '*', '/a;b=c'),
    fc.constantFrom('?', '#', ';', '??', '?&'),
    fc.array(fc.oneof(harmless, secret)),
    secret,
    fc.array(fc.oneof(harmless, secret)),
    (path, delimiter, before, certain, after) =>
      !targetWithoutSecrets(path + delimiter + [...before, certain, ...after].join('&')).includes('S3CRET')
  )
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }))
})

t.test('removes each of the names in its usual forms [U7]', async (t) => {
  for (const name of secretNames) {
    t.equal(targetWithoutSecrets(`/a?${name}=S3CRET`), '/a', name)
    t.equal(targetWithoutSecrets(`/a?${name.replaceAll('-', '_')}=S3CRET`), '/a')
  }
})

t.test('returns printable ASCII of at most 2,048 characters for any input, and never throws', async (t) => {
  const anything = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', minLength: 1000, maxLength: 6000 }), fc.webUrl())
  const property = fc.property(anything, (target) => /^[!#-;=?-Z_a-z~]{0,2048}$/.test(targetWithoutSecrets(target)))
  t.doesNotThrow(() => fc.assert(property))
})

t.test('percent-encodes characters that are not allowed in a URI', async (t) => {
  t.equal(targetWithoutSecrets('/a/%zz%?b=%4'), '/a/%25zz%25?b=%254', 'a % without an escape')
  t.equal(targetWithoutSecrets('/a?total[gte]=1&b="{|}^`'), '/a?total%5Bgte%5D=1&b=%22%7B%7C%7D%5E%60')
})

t.test('does not change a target without secrets', async (t) => {
  for (const target of [
    '/',
    '*',
    '/v1/orders?page=2&sort=-placedAt',
    '/a?',
    '/a?b',
    '/a?b=c=d&&e',
    '/a;v=1',
    '/a?tokens=3&keyboard=qwerty&monkey=1'
  ])
    t.equal(targetWithoutSecrets(target), target)
})

t.test('keeps the other parameters in their order', async (t) => {
  t.equal(targetWithoutSecrets('/a?x=1&access_token=S&y=2&API-KEY=S'), '/a?x=1&y=2')
  t.equal(targetWithoutSecrets('/a?token=S'), '/a')
  t.equal(targetWithoutSecrets('/a#token=S&x=1'), '/a#x=1')
  t.equal(targetWithoutSecrets('/a?next=/login?token=S&x=1'), '/a?x=1')
})

t.test('removes user, password and host of an absolute target, so that no link can contain them', async (t) => {
  t.equal(targetWithoutSecrets('http://user:pass@evil.example/a?x=1'), '/a?x=1')
  for (const target of ['http://evil.example', 'HTTPS://evil.example/', 'http://http://evil.example', 'ftp://evil.example?a'])
    t.match(hrefOf('https://api.example.com', targetWithoutSecrets(target)), /^https:\/\/api\.example\.com\//)
})

t.test('truncates a plain target to 2,048 characters too', async (t) => {
  t.equal(targetWithoutSecrets(`/${'a'.repeat(5000)}`).length, 2048)
})

t.test('omits an escape that the length limit would split', async (t) => {
  const shown = [2046, 2047, 2048].map((length) => targetWithoutSecrets(`/${'a'.repeat(length - 1)} b`))
  t.strictSame(
    shown.map((target) => target.length),
    [2046, 2047, 2048]
  )
})

t.test('keeps a filter of the route that has an ambiguous name, and nothing else that may be a credential', (t) => {
  const filters = new Set(['code', 'key', 'session', 'token', 'size'])
  for (const [target, shown] of [
    ['/parts?code=a&size=1', '/parts?code=a&size=1'],
    ['/parts?key%5Bin%5D=a,b&session[ne]=c', '/parts?key%5Bin%5D=a,b&session%5Bne%5D=c'],
    ['/parts?token=a&code=b', '/parts?code=b'],
    ['/parts?Code=a', '/parts'],
    ['/parts?code=a%3Fkey=b', '/parts?code=a%3Fkey=b'],
    ['/parts?code=https://b?token=c', '/parts']
  ] as const)
    t.equal(targetWithoutSecrets(target, filters), shown, target)
  t.equal(targetWithoutSecrets('/parts?code=a&key=b&session=c&size=1', new Set(['size'])), '/parts?size=1')
  t.equal(targetWithoutSecrets('/parts?code=a'), '/parts')
  t.end()
})
