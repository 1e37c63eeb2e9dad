import { connect } from 'node:net'
import t, { type Test } from 'tap'
import type { Case } from './case.ts'
import { jsonCases, negotiationCases, validationCases } from './cases-content.ts'
import { floodCases } from './cases-floods.ts'
import { framingCases } from './cases-framing.ts'
import { http2Cases } from './cases-http2.ts'
import { destroysRewritten, optionCases, slowCases } from './cases-lifecycle.ts'
import { malformedCases } from './cases-malformed.ts'
import { parserMethodCases } from './cases-parser-methods.ts'
import { methodCases, uriCases, versionCases } from './cases-routing.ts'
import { hookCases, replyCases, thrownCases } from './cases-service.ts'
import { startChild } from './child-server.ts'
import type { Step } from './exchange.ts'
import { groups } from './groups.ts'
import { type Outcome, type Run, runBattery, runCase, runHttp2Battery } from './run-battery.ts'
import { inSpanish } from './spanish.ts'
import { withoutResponse } from './without-response.ts'

const mainCases: readonly Case[] = [
  ...malformedCases,
  ...framingCases,
  ...floodCases,
  ...parserMethodCases,
  ...uriCases,
  ...versionCases,
  ...methodCases,
  ...negotiationCases,
  ...jsonCases,
  ...validationCases,
  ...thrownCases,
  ...hookCases,
  ...replyCases
]
const lifecycleCases: readonly Case[] = [...optionCases, ...slowCases]
// One process for all cases, because it takes long to start.
const run: Run = { servers: { child: await startChild() }, ids: new Set() }
t.teardown(() => run.servers.child.stop())

// Connections that are in use when the server closes; their requests are completed only afterwards.
const lateCases: readonly { name: string; lines: string; rest: string; expect: Case['expect'] }[] = [
  { name: 'GET', lines: 'GET /v1/things HTTP/1.1', rest: '', expect: { status: 200 } },
  { name: 'HEAD', lines: 'HEAD /v1/things HTTP/1.1', rest: '', expect: { status: 200 } },
  {
    name: 'POST',
    lines: 'POST /v1/anything HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2',
    rest: '{}',
    expect: { status: 200 }
  },
  { name: 'an unknown path', lines: 'GET /nowhere HTTP/1.1', rest: '', expect: { status: 404, code: 'RESOURCE_NOT_FOUND' } },
  { name: 'a broken escape', lines: 'GET /v1/things/%zz HTTP/1.1', rest: '', expect: { status: 400, code: 'MALFORMED_URI' } }
]

t.test('every 4xx and 5xx over HTTP/1.1 has the envelope, and the process stays alive [E5] [S13] [X2]', async (t) => {
  report(t, mainCases, await runBattery(mainCases, run))
})

t.test('errors have the envelope when options of the service throw, clients are slow, or the port is wrong [E5]', async (t) => {
  report(t, lifecycleCases, await runBattery(lifecycleCases, run))
})

t.test('every 4xx and 5xx over HTTP/2 has the envelope [E5]', async (t) => {
  report(t, http2Cases, await runHttp2Battery(http2Cases, run))
})

t.test('a closing server serves the requests that it has started to read, and closes their connections [E5]', async (t) => {
  const { child } = run.servers
  let waiting = lateCases.length
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const begin = async () => {
    waiting -= 1
    if (waiting === 0) {
      child.close('closing', lateCases.length)
      void untilRefused(child.port('closing')).then(resolve)
    }
    await closed
  }
  const outcomes = await Promise.all(
    lateCases.map(({ name, lines, rest, expect }) => {
      const send: readonly Step[] = [`${lines}\r\nHost: api.`, begin, `example.com\r\n\r\n${rest}`]
      const [method = ''] = lines.split(' ')
      return runCase(child, { name, row: 17, server: 'closing', send, methods: [method], expect: { ...expect, closes: true } }, run)
    })
  )
  for (const { name, problems, received } of outcomes) t.same(problems, [], name, { received })
  t.ok(await child.isAlive(), 'the process is alive')
})

t.test('the same errors are in Spanish for a client that requests Spanish [G1]', async (t) => {
  const sample = mainCases.filter(({ name }) => inSpanish.has(name)).map(withSpanish)
  t.equal(sample.length, inSpanish.size, 'each name of the sample is a case')
  report(t, sample, await runBattery(sample, { ...run, language: 'es' }))
})

t.test('the tables cover every group, have unique names, and rarely allow two responses', async (t) => {
  const all = [...mainCases, ...lifecycleCases, ...http2Cases]
  const covered = new Set([...all, ...withoutResponse].map(({ row }) => row).concat(17, destroysRewritten ? 23 : []))
  t.same(
    Object.keys(groups).filter((row) => !covered.has(Number(row))),
    [],
    'every group has a case'
  )
  t.equal(new Set(all.map(({ name }) => name)).size, all.length, 'no name is repeated')
  const open = all.filter(({ expect }) => Array.isArray(expect.status) || Array.isArray(expect.code))
  t.ok(open.length <= all.length / 10, `${open.length} of ${all.length} cases allow two responses`)
  t.ok(mainCases.length + lifecycleCases.length >= 250, `${mainCases.length + lifecycleCases.length} over HTTP/1.1`)
  t.ok(http2Cases.length >= 30, `${http2Cases.length} over HTTP/2`)
})

function report(t: Test, cases: readonly { name: string; row: number }[], outcomes: readonly Outcome[]) {
  t.equal(outcomes.length, cases.length)
  outcomes.forEach(({ name, problems, received }, index) => {
    const group = groups[cases[index]?.row ?? -1]
    t.same(problems, [], `${group}: ${name}`, problems.length === 0 ? {} : { received })
  })
}

function withSpanish(theCase: Case): Case {
  const text = (theCase.send as Buffer).toString('latin1').replace('\r\n', '\r\nAccept-Language: es-MX, en;q=0.5\r\n')
  return { ...theCase, send: Buffer.from(text, 'latin1') }
}

async function untilRefused(port: number) {
  for (;;) {
    const refused = await new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.on('error', () => resolve(true))
      socket.on('connect', () => {
        socket.destroy()
        setImmediate(() => resolve(false))
      })
    })
    if (refused) return
  }
}
