import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { childEnvironment } from '@concordat/test-harness/child'
import { create, flagPairs, formatFaults, project, run, workshop } from '@concordat/test-harness/generated-project'
import t from 'tap'

const command = join(import.meta.dirname, '../src/command.ts')

function pathsIn(folder: string) {
  return globSync('**/*', { cwd: folder, withFileTypes: true, exclude: ['node_modules/**'] })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

function lines(folder: string) {
  const texts = pathsIn(join(folder, 'src')).filter((path) => path.endsWith('.ts'))
  return texts.reduce((sum, path) => sum + readFileSync(join(folder, 'src', path), 'utf8').split('\n').length - 1, 0)
}

function everythingIn(folder: string) {
  return pathsIn(folder)
    .map((path) => `${path}\n${readFileSync(join(folder, path), 'utf8')}`)
    .join('\n')
}

// Its checks and tests are run where more is added to it: in the tests of the command concordat.
t.test('the default project is small, and has only what was chosen', async (t) => {
  const folder = await project(workshop(t), 'my-service')
  t.ok(lines(folder) <= 500, `src has ${lines(folder)} lines`)
  const text = everythingIn(folder)
  t.notMatch(
    text,
    /\bzod\b|ioredis|pg-boss|token-issuing|webhook|opentelemetry|\/metrics|grafana|\btap\b|redis:|postgres:\/\/[^\n]*postgres@/
  )
  t.notMatch(text, /\[(not )?(auth|jobs|webhooks|batch|redis|metrics|postgres|pglite|zod|typebox|node|tap)\b/)
  t.notMatch(text, /books-service|Books service|workspace:|catalog:/)
})

t.test('a project with everything has it', async (t) => {
  const path = t.testdir({})
  const made = await create(
    path,
    'shop.api',
    '--no-install',
    '--yes',
    '--database',
    'postgres',
    '--with',
    'jobs,webhooks,batch,audit,redis,metrics'
  )
  t.match(made, {
    code: 0,
    out: /^shop\.api was created in shop\.api, with postgres, typebox, auth, jobs, .* \(jobs, webhooks and the audit trail belong to users\)\.\n/
  })
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(path, 'shop.api/package.json'), 'utf8'))
  t.match(
    Object.keys(dependencies),
    ['@concordat/token-issuing', 'ioredis', 'pg', 'pg-boss'].map(() => String)
  )
  for (const name of ['@concordat/token-issuing', 'ioredis', 'pg', 'pg-boss']) t.ok(dependencies[name], name)
  t.ok(devDependencies['@electric-sql/pglite'], 'PGlite is for development and tests')
  t.ok(devDependencies['pino-pretty'], 'the log is readable in development')
  t.match(readFileSync(join(path, 'shop.api/Dockerfile'), 'utf8'), 'npm ci --omit=dev')
  t.match(
    readFileSync(join(path, 'shop.api/compose.yaml'), 'utf8'),
    /image: postgres:17[\s\S]*image: redis:8[\s\S]*image: prom\/prometheus/
  )
  t.match(readFileSync(join(path, 'shop.api/monitoring/grafana/dashboards/service.json'), 'utf8'), '"title": "Shop api"')
  t.match(readFileSync(join(path, 'shop.api/src/main.ts'), 'utf8'), "name: 'Shop api'")
})

// The ranges of the packages of each library, and the module of its schemas.
const libraries = {
  typebox: { '@sinclair/typebox': /^\^0\.34\./, '@fastify/type-provider-typebox': /^\^5\./ },
  'typebox-1': { typebox: /^\^1\./, '@fastify/type-provider-typebox': /^\^6\./ },
  zod: { zod: /^\^4\./, '@concordat/standard-schema': /./ }
}

// The types of each are checked where resources are added, in the tests of the command concordat.
t.test('a project has one library for schemas', async (t) => {
  const place = workshop(t)
  for (const [library, packages] of Object.entries(libraries)) {
    const folder = await project(place, `with-${library}`, `--schema=${library}`)
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    t.strictSame(
      Object.keys(dependencies)
        .filter((one) => /typebox|zod|standard-schema/.test(one))
        .toSorted(),
      Object.keys(packages).toSorted()
    )
    t.match(dependencies, packages)
    t.match(readFileSync(join(folder, 'src/books/schemas.ts'), 'utf8'), `from '${Object.keys(packages)[0]}'`)
  }
})

t.test('with every pair of flags, the files are as the formatter writes them, and end with one line end', async (t) => {
  const place = workshop(t)
  const rows = flagPairs()
  const folders = await Promise.all(rows.map((flags, index) => project(place, `service-${index + 1}`, ...flags)))
  t.ok(folders.length >= 6)
  t.equal(await formatFaults(place), '')
  const wrong = folders.flatMap((folder) =>
    pathsIn(folder).filter((path) => /\n\n$|[^\n]$|\*\/\n\n|[\0\uE000]/.test(readFileSync(join(folder, path), 'utf8')))
  )
  t.strictSame(wrong, [], 'no comment is without its code')
})

for (const flags of [[], ['--with', 'auth']])
  t.test(`the requests of the README are accepted as they are written: ${flags.join(' ')}`, async (t) => {
    const folder = await project(workshop(t), 'library', ...flags)
    const service = spawn(process.execPath, ['--conditions=@concordat/source', 'src/main.ts'], {
      cwd: folder,
      env: { ...childEnvironment(), PORT: '0', DATABASE_URL: undefined, NODE_ENV: undefined },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const ended = once(service, 'close')
    t.teardown(async () => {
      service.kill()
      await ended
    })
    let address: string | undefined
    for await (const line of createInterface({ input: service.stdout })) {
      address = / at (http:\/\/[\w.:]+)/.exec(line)?.[1]
      if (address !== undefined) break
    }
    service.stdout.resume()
    const blocks = Array.from(readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/```sh\n([^]*?)```/g), ([, block = '']) => block)
    const requests = blocks.filter((block) => block.includes('curl'))
    t.equal(requests.length, 1)
    const script = String(requests[0]).replaceAll('http://127.0.0.1:3000', String(address))
    const { stdout } = await promisify(execFile)('sh', ['-ec', script], { cwd: folder })
    t.match(stdout, /"name":"Michael Ende"[^]*"data":\[\{[^\]]*"name":"Michael Ende"/)
  })

t.test('a name of a member that every object has is a name like others', async (t) => {
  const path = t.testdir({})
  t.match(await create(path, 'constructor', '--yes', '--no-install'), { code: 0, out: /^constructor was created in constructor, / })
})

t.test('an example is copied without what only this repository has', async (t) => {
  const path = t.testdir({})
  t.match(await create(path, 'shop', '--from', 'orders-service', '--no-install'), { code: 0, out: /^shop was created in shop\.\n/ })
  const text = everythingIn(join(path, 'shop'))
  t.notMatch(text, /workspace:|catalog:|test-harness|\]\(\.\.\/|From the root of the repository/)
  t.ok(existsSync(join(path, 'shop/src/app.ts')) && existsSync(join(path, 'shop/Dockerfile')))
})

t.test('a refusal is one line, and nothing is written', async (t) => {
  const path = t.testdir({ full: { 'a.txt': '' } })
  const cases: [string[], RegExp][] = [
    [['full'], /^The folder .*full is not empty\. Choose another name, or empty the folder\.\n$/],
    [['full/a.txt'], /^.*a\.txt is a file\. Choose another name\.\n$/],
    [['node_modules'], /^"node_modules" cannot be the name of a package\./],
    [['fastify'], /^The project needs the package "fastify", so it cannot have the same name\. Choose another name\.\n$/],
    [['a', '--schema', '--from'], /^Option '--schema' argument is ambiguous\. Run npm create concordat -- --help for the flags\.\n$/],
    [['My Service'], /^"My Service" cannot be the name of a package\. Use lower-case letters/],
    [['a', 'b'], /^Only one folder can be created, but 2 are named\. Remove "b"\.\n$/],
    [['a', '--frobnicate'], /^Unknown option '--frobnicate'\. Run npm create concordat -- --help for the flags\.\n$/],
    [['a', '--schema', 'joi'], /^--schema is "joi"\. It must be typebox, typebox-1, or zod\.\n$/],
    [['a', '--with', 'auth,mail'], /^--with has "mail"\. It must be a list of: auth, jobs, webhooks, batch, audit, redis, metrics\.\n$/],
    [['a', '--from', 'shop'], /^There is no example "shop"\. Use --from orders-service\.\n$/],
    [['a', '--from', 'orders-service', '--schema', 'zod'], /^--schema has no effect with --from/]
  ]
  for (const [args, message] of cases) {
    const { code, out, err } = await create(path, ...args, '--yes', '--no-install')
    t.strictSame([code, out], [1, ''], args.join(' '))
    t.match(err, message)
  }
  t.strictSame(readdirSync(path), ['full'])
})

t.test('a terminal and a shell read the name of a folder as a word, whatever it contains', async (t) => {
  for (const [name, next] of [
    ['plain', 'cd plain/shop'],
    ["it's $(id)", String.raw`cd 'it'\''s $(id)/shop'`],
    ['-x', "cd '-x/shop'"],
    ['a\u001b[2J\u202e', String.raw`cd 'a\u{1b}[2J\u{202e}/shop'`]
  ] as const) {
    const path = t.testdir({})
    const made = await create(path, '--no-install', '--yes', '--', join(name, 'shop'))
    t.match(made, { code: 0, err: '' }, name)
    t.ok(made.out.includes(`\n  ${next}\n`), made.out)
    t.notMatch(made.out.replaceAll('\n', ''), /[\p{C}]/u)
  }
  const refused = await create(t.testdir({}), '--no-install', '--yes', 'a\u001b[2J')
  t.strictSame([refused.code, refused.out], [1, ''])
  t.match(refused.err, String.raw`"a\u{1b}[2J" cannot be the name of a package.`)
})

t.test('a folder that cannot be written, and an old Node.js, are refused', async (t) => {
  const path = t.testdir({ 'file.txt': '', 'old.mjs': `Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } })` })
  t.match(await create(path, 'file.txt/a', '--yes', '--no-install'), { code: 1, err: /^The project cannot be written: / })
  const old = await run(path, ['--import', './old.mjs', command, 'a', '--yes'])
  t.strictSame(old, { code: 1, out: '', err: 'Node.js 20.1.0 is too old. Install version 22.19 or later.\n' })
  t.strictSame(readdirSync(path), ['file.txt', 'old.mjs'])
})

t.test('without --yes, a terminal is asked for the folder and for what no flag says; a wrong answer is asked again', async (t) => {
  const path = t.testdir({ 'terminal.mjs': 'process.stdin.isTTY = true' })
  const args = ['--conditions=@concordat/source', '--import', './terminal.mjs', command, '--no-install', '--tests', 'tap']
  const made = await run(path, args, process.env, '\noracle\npostgres\n\nauth\n')
  t.match(made, { code: 0, out: /--database is "oracle"\. It must be pglite or postgres\./, err: '' })
  t.match(made.out, /my-service was created in my-service, with postgres, typebox, auth\./)
  t.match(readFileSync(join(path, 'my-service/test/books.test.ts'), 'utf8'), "import { test } from 'tap'")

  const ended = await run(path, [...args, 'other'], process.env, 'pglite\n')
  t.match(ended, { code: 1, err: 'Nothing was created. Answer the questions, or run with --yes.\n' })
  t.notOk(existsSync(join(path, 'other')))
})

t.test('the packages are installed by the package manager that runs the command', async (t) => {
  const path = t.testdir({ bin: {} })
  const fake = (name: string, text: string) => {
    writeFileSync(join(path, 'bin', name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(path, 'bin', name), 0o755)
  }
  fake('pnpm', 'echo "$0 $1"')
  fake('npm', 'exit 1')
  const env = (agent?: string) => ({ ...process.env, PATH: `${join(path, 'bin')}:/bin`, npm_config_user_agent: agent })
  const made = await run(path, ['--conditions=@concordat/source', command, 'a', '--yes'], env('pnpm/12.21.0 npm/? node/v24'))
  t.match(made, { code: 0, out: /pnpm installs the packages …[\s\S]*bin\/pnpm install[\s\S]*cd a\n {2}npm start/ })
  const failed = await run(path, ['--conditions=@concordat/source', command, 'b', '--yes'], env())
  t.match(failed, {
    code: 1,
    err: 'The packages could not be installed. The project is complete: run npm install in b when the registry can be reached.\n'
  })
  t.ok(existsSync(join(path, 'b/src/app.ts')))
})

t.test('a new folder has the rights that other new folders have, and nothing is written through a link to nothing', async (t) => {
  const path = t.testdir({ other: {}, outside: {} })
  t.match(await create(path, 'a', '--yes', '--no-install'), { code: 0 })
  for (const folder of ['a', 'a/src']) t.equal(statSync(join(path, folder)).mode, statSync(join(path, 'other')).mode, folder)
  symlinkSync(join(path, 'outside/new'), join(path, 'linked'))
  t.match(await create(path, 'linked', '--yes', '--no-install'), { code: 1, err: /^The project cannot be written: / })
  t.strictSame(readdirSync(path), ['a', 'linked', 'other', 'outside'])
  t.strictSame(readdirSync(join(path, 'outside')), [])
})

t.test('--help prints the flags, and an empty folder is used, also one with a repository', async (t) => {
  const path = t.testdir({})
  const folder = join(path, 'empty')
  mkdirSync(join(folder, '.git'), { recursive: true })
  const { ino } = statSync(folder)
  t.match(await create(path, '--help'), { code: 0, out: /--database pglite\|postgres/ })
  t.match(await create(folder, '.', '--yes', '--no-install'), {
    code: 0,
    out: /^empty was created in \., .*\n\n {2}npm install\n {2}npm start\n/
  })
  t.ok(existsSync(join(folder, 'src/app.ts')) && existsSync(join(folder, '.git')))
  t.equal(statSync(folder).ino, ino, 'a shell that is in the folder stays there')
  t.notOk(readdirSync(folder).some((name) => name.startsWith('.create')))
})
