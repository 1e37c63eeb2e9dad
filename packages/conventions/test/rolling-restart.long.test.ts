// nginx with keep-alive in front of two processes that restart in turn. It repeats no POST that it has sent, so each connection that is reset or
// closed under a request is a 502.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { childEnvironment, nodeOptions } from '@concordat/test-harness/child'
import { freePort } from '@concordat/test-harness/fleet'
import t, { type Test } from 'tap'
import { runProxy } from './proxy-process.ts'

const program = process.env['TEST_NGINX']
const wanted = 50_000
const clients = 16

// A process that refuses connections stays in the list: with two processes, both would be out of it at times.
const configuration = (folder: string, front: number, services: readonly number[]) => `
  daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
  events {}
  http {
    access_log off;
    client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
    upstream services { ${services.map((port) => `server 127.0.0.1:${port} max_fails=0;`).join(' ')} keepalive 32; }
    server {
      listen 127.0.0.1:${front}; keepalive_requests 1000000;
      location / { proxy_pass http://services; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host localhost; }
    }
  }`

async function startService(t: Test, port: number): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('./restarting-service.ts', import.meta.url))
  const child = spawn(process.execPath, [...nodeOptions, file], {
    env: { ...childEnvironment(), PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  return child
}

/** Sends a POST, and resolves to its status, or to the code of the error of its connection. */
function post(port: number, agent: Agent) {
  return new Promise<number | string>((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path: '/orders', method: 'POST', agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode as number))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
    sent.end()
  })
}

for (const run of [1, 2, 3])
  t.test(`run ${run}: processes that restart in turn behind nginx fail none of ${wanted} POSTs`, { timeout: 600_000 }, async (t) => {
    if (program === undefined) return t.comment('TEST_NGINX is not set')
    const services = [await freePort(), await freePort()]
    const front = await freePort()
    const running = [await startService(t, services[0] as number), await startService(t, services[1] as number)]
    await runProxy(t, program, front, (folder) => ({
      files: { configuration: configuration(folder, front, services) },
      words: ['-p', folder, '-c', join(folder, 'configuration')]
    }))
    const outcomes = new Map<number | string, number>()
    const progress = { sent: 0 }
    const sending = Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        const agent = new Agent({ keepAlive: true })
        for (let own = 0; progress.sent < wanted; own += 1) {
          progress.sent += 1
          const outcome = await post(front, agent)
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
          // Pauses leave connections idle.
          if (own % 5 === client % 5) await delay(client)
        }
        agent.destroy()
      })
    )
    let restarts = 0
    for (; progress.sent < wanted; restarts += 1) {
      const index = restarts % services.length
      const child = running[index] as ChildProcess
      child.kill('SIGTERM')
      t.strictSame(await once(child, 'exit'), [0, null])
      running[index] = await startService(t, services[index] as number)
    }
    await sending
    t.strictSame([...outcomes], [[200, wanted]], `${restarts} restarts`)
  })
