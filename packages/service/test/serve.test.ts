import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { serve } from '@concordat/service'
import { nodeOptions } from '@concordat/test-harness/child'
import { until } from '@concordat/test-harness/until'
import t, { type Test } from 'tap'

/** Starts the service of service-process.ts on a free port, unless `PORT` is set. */
function start(t: Test, env: Readonly<Record<string, string | undefined>> = {}, { byShell = false } = {}) {
  const command = [process.execPath, ...nodeOptions, fileURLToPath(new URL('service-process.ts', import.meta.url))] as const
  // A shell that has something else to do afterwards does not become the command.
  const [file, ...args] = byShell ? (['/bin/sh', '-c', '"$@"; true', 'sh', ...command] as const) : command
  const child = spawn(file, args, {
    env: { ...process.env, NODE_ENV: 'test', DATA_DIR: 'memory://', PORT: '0', npm_lifecycle_event: undefined, ...env }
  })
  t.teardown(() => child.kill('SIGKILL'))
  const written = { out: '', err: '' }
  child.stdout.on('data', (data) => (written.out += data))
  child.stderr.on('data', (data) => (written.err += data))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...written }))
  return { child, written, ended }
}

/** Resolves to the address when the service listens. */
async function addressOf({ written, ended }: ReturnType<typeof start>): Promise<string> {
  let found: string | undefined
  const listens = until(() => (found = /Test service at (\S+)/.exec(written.out)?.[1]) !== undefined)
  await Promise.race([listens, ended.then(({ err }) => Promise.reject(new Error(`The process ended: ${err}`)))])
  return found as string
}

const ofDevelopment =
  ' – development: clients of a proxy on this machine that passes neither X-Forwarded-For nor the host get plain HTTP, the users of development, the reference page, metrics and names of stores; behind a proxy set NODE_ENV=production'

t.test('prints one line with the address and a command to try, and a signal closes the service with exit code 0', async (t) => {
  for (const [signal, env, rest] of [
    ['SIGTERM', {}, ' – try: curl -s ADDRESS/'],
    ['SIGINT', { REFERENCE: 'true', TRY: '/v1/books' }, ' – reference: ADDRESS/reference – try: curl -s ADDRESS/v1/books']
  ] as const) {
    const service = start(t, env)
    const address = await addressOf(service)
    t.equal(await (await fetch(address)).text(), 'hello')
    service.child.kill(signal)
    t.strictSame(await service.ended, {
      code: 0,
      out: `database opened\nTest service at ${address}${rest.replaceAll('ADDRESS', address)}${ofDevelopment}\ndatabase closed\n`,
      err: ''
    })
  }
})

t.test(
  'a service that a script of npm started closes when the shell of the script ends, and one that a shell started runs on',
  async (t) => {
    for (const [script, err] of [
      ['start', 'Test service stops, because the script that started it has ended.\n'],
      [undefined, '']
    ] as const) {
      const service = start(t, { npm_lifecycle_event: script }, { byShell: true })
      const address = await addressOf(service)
      const pid = Number(await (await fetch(`${address}/pid`)).text())
      t.teardown(() => isRunning(pid) && process.kill(pid, 'SIGKILL'))
      service.child.kill('SIGTERM')
      await once(service.child, 'exit')
      t.ok(isRunning(pid))
      if (script === undefined) {
        t.equal(await (await fetch(address)).text(), 'hello')
        process.kill(pid, 'SIGTERM')
      }
      t.match(await service.ended, { out: /database closed\n$/, err })
    }
  }
)

function isRunning(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

t.test('a signal during the start ends the process with exit code 0 and no error', async (t) => {
  const service = start(t, { FAILS: 'never' })
  await until(() => service.written.out === 'database opened\n')
  service.child.kill('SIGTERM')
  t.match(await service.ended, { code: 0, out: 'database opened\n', err: /^$/ })
})

t.test('on a terminal, a start that takes longer than a second says so', async (t) => {
  const service = start(t, { FAILS: 'never', TERMINAL: 'true' })
  await until(() => service.written.err !== '')
  service.child.kill('SIGTERM')
  t.strictSame(await service.ended, {
    code: 0,
    out: 'database opened\n',
    err: 'Test service is starting. It prepares its database …\n'
  })
})

t.test('invalid settings are one line, and exit code 1', async (t) => {
  t.strictSame(await start(t, { PORT: 'many' }).ended, {
    code: 1,
    out: '',
    err: 'Cannot start: PORT is "many". It must be an integer from 0 to 65535; 0 selects a free port.\n'
  })
})

t.test('an address that cannot be used is one line that names the variable and exit code 1, before the database is opened', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  for (const [env, message] of [
    [{ PORT: String(port) }, /^Cannot start: listen EADDRINUSE.+\. Check PORT: it must be [^.]+\.\n$/],
    [{ PORT: '1', HOST: '192.0.2.1' }, /^Cannot start: listen EADDRNOTAVAIL.+\. Check HOST: it must be [^C]+\n$/]
  ] as const) {
    const { code, out, err } = await start(t, env).ended
    t.strictSame([code, out], [1, ''])
    t.match(err, message)
  }
})

t.test('a free port that was checked is still free', async (t) => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  const service = start(t, { PORT: String(port) })
  t.equal(await addressOf(service), `http://127.0.0.1:${port}`)
  service.child.kill('SIGTERM')
  t.match(await service.ended, { code: 0, err: /^$/ })
})

t.test('a start that fails closes what is open, and is one line, or a list of findings, with exit code 1', async (t) => {
  for (const [FAILS, reason] of [
    ['build', 'the database is too old.'],
    ['ready', 'a hook fails'],
    ['routes', '2 findings.\n  the first\n  the second']
  ] as const) {
    const { code, out, err } = await start(t, { FAILS }).ended
    t.strictSame([code, out], [1, 'database opened\ndatabase closed\n'], FAILS)
    t.equal(err, `Cannot start: ${reason}\n`)
  }
})

t.test('an exception that nothing catches closes the service, and the process ends with exit code 1', async (t) => {
  const service = start(t)
  await fetch(`${await addressOf(service)}/crash`).catch(() => {})
  const { code, out, err } = await service.ended
  t.equal(code, 1)
  t.ok(out.endsWith('database closed\n'))
  t.match(err, /Error: a bug/)
})

t.test('a service that cannot be closed ends with exit code 1', async (t) => {
  const service = start(t, { FAILS: 'close' })
  await addressOf(service)
  service.child.kill('SIGTERM')
  t.match(await service.ended, { code: 1, err: /it cannot be closed/ })
})

t.test('an unknown option is an error of the service itself', async (t) => {
  const options = { name: 'Books', settings: () => ({}), build: async () => ({}), onClose: () => {} }
  await t.rejects(serve(options as never), {
    message: /^service: options\.onClose is unknown\. Use only name, tryPath, settings, build\.$/
  })
})
