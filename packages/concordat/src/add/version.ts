import { Refusal } from 'create-concordat'
import { edit, type Project, read, write } from './project.ts'

const noticeMs = 365 * 86_400_000

/**
 * Adds a version of the API to a project, with the routes of the newest one, which it deprecates: it ends a year after `now`. Returns what was done, and
 * what remains to be done.
 */
export function addVersion(project: Project, text: string, now: Date): string {
  const [versions, app, main] = ['src/versions.ts', 'src/app.ts', 'src/main.ts'].map((path) => read(project, path)) as [
    string,
    string,
    string
  ]
  const newest = Math.max(0, ...[...versions.matchAll(/^ {2}(\d+): /gm)].map(([, number]) => Number(number)))
  const number = newest + 1
  if (text !== String(number)) throw new Refusal(`The next version is ${number}, not "${text}". Run npx concordat add version ${number}.`)

  const added = new Map([[`test/version-${number}.test.ts`, testOf(newest, number, project.chosen.has('tap'))]])
  const edited = new Map([
    ['src/versions.ts', withEnd(versions, newest, now)],
    ['src/app.ts', withRoutes(app, newest, number)],
    ['src/main.ts', main.replace(`'/v${newest}/`, `'/v${number}/`)]
  ])
  write(project, added, edited)
  return `Version ${number} was added with the routes of version ${newest}, which ends in a year. Publish what differs, set its address and the dates in src/versions.ts, and change the routes of version ${number} in src/app.ts. Run npm test.`
}

function withEnd(versions: string, newest: number, now: Date) {
  const today = now.toISOString().slice(0, 10)
  const end = new Date(now.getTime() + noticeMs).toISOString().slice(0, 10)
  const entry = `  ${newest}: {
    deprecatedAt: '${today}T00:00:00Z',
    sunsetAt: '${end}T00:00:00Z',
    documentation: 'https://docs.example.com/moving-to-v${newest + 1}'
  },
  ${newest + 1}: { status: 'current' }`
  return edit(
    'src/versions.ts',
    versions,
    new RegExp(`^ {2}${newest}: \\{ status: 'current' \\}`, 'm'),
    `entry ${newest}: { status: 'current' }`,
    () => entry
  )
}

function withRoutes(app: string, newest: number, number: number) {
  const block = new RegExp(`^( *)await app\\.apiVersion\\(${newest}, async \\(v${newest}\\) => \\{\\n[\\s\\S]*?\\n\\1\\}\\)\\n`, 'm')
  return edit(
    'src/app.ts',
    app,
    block,
    `block await app.apiVersion(${newest}, async (v${newest}) => { … })`,
    ([found]) =>
      `${found}\n${found.replaceAll(new RegExp(`\\bv${newest}\\b`, 'g'), `v${number}`).replace(`apiVersion(${newest},`, `apiVersion(${number},`)}`
  )
}

function testOf(newest: number, number: number, isTap: boolean) {
  const [equal, deepEqual, notEqual] = isTap ? ['t.equal', 't.strictSame', 't.not'] : ['equal', 'deepEqual', 'notEqual']
  const imports = isTap
    ? "import { test } from 'tap'"
    : "import { deepEqual, equal, notEqual } from 'node:assert/strict'\nimport { test } from 'node:test'"
  return `${imports}
import { startService } from './service.ts'

test('version ${number} is served, and version ${newest} is not current', async (t) => {
  const client = await startService(t)
  const { status, body } = await client.get('/')
  ${equal}(status, 200)
  const listed: { version: string; status: string }[] = body.data.versions
  const states = listed.filter((one) => ['v${newest}', 'v${number}'].includes(one.version))
  ${deepEqual}(states.map((one) => one.version), ['v${newest}', 'v${number}'])
  ${notEqual}(states[0]?.status, 'current')
})
`
}
