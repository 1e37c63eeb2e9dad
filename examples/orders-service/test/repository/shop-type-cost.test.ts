// How much work the types of the client are for the compiler, which editors do at each key press.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { instantiations } from '@concordat/test-harness/instantiations'
import t from 'tap'

const home = join(import.meta.dirname, '../..')
const most = 17_000

const shop = readFileSync(join(import.meta.dirname, 'shop.ts'), 'utf8')
const calls = ['Get', 'Post', 'Put', 'Patch', 'Delete'].flatMap((verb) => {
  const [, body = ''] = new RegExp(`^export interface ${verb}Operations \\{\\n([^]*?)^\\}`, 'm').exec(shop) ?? []
  return Array.from(body.matchAll(/^ {2}('\/.*'): \{$/gm), ([, path]) => `shop.${verb.toLowerCase()}(${path}, {} as never)`)
})
const begin = `import { createClient } from '@concordat/client'
import { api } from '../../test/repository/shop.ts'
const shop = createClient(api, { baseUrl: 'https://shop.example' })
`

t.test(`fifty operations of the client take at most ${most} instantiations`, (t) => {
  const used = calls.slice(0, 50)
  t.equal(used.length, 50)
  const results = used.map((call, index) => `export const r${index} = await ${call}`).join('\n')
  const count = instantiations(home, begin + results)
  t.comment(`${count} instantiations`)
  t.ok(count > 0 && count <= most, String(count))
  t.end()
})
