// Clients that do not speak HTTP, speak it slowly, or leave.
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { isErrorEnvelope, jsonOf } from './envelope.ts'
import { pick, type World } from './world.ts'

const patienceMs = 15_000

const bytes: readonly (string | Buffer)[] = [
  'GET / HTTP/9.9\r\n\r\n',
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00FC\u0003\u0003',
  Buffer.from([0, 255, 254, 0, 13, 10, 13, 10]),
  'GET /v2/products HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'GET /%ff%00/../../etc/passwd HTTP/1.1\r\nHost: shop.example\r\n\r\n',
  'POST /v2/orders HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  `GET /v2/products HTTP/1.1\r\nHost: shop.example\r\nX-Long: ${'a'.repeat(70_000)}\r\n\r\n`,
  'POST /v2/tokens HTTP/1.1\r\nHost: shop.example\r\nX-Forwarded-Proto: https\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
]

/** Sends bytes directly to a process, past the proxy that would stop most of them. */
export async function sendBytes(world: World): Promise<void> {
  const member = pick(world, world.fleet.members)
  if (member === undefined) return
  const socket = open(member.port)
  let text = ''
  socket.on('data', (data) => (text += data.toString('latin1')))
  const sent = pick(world, bytes) as string | Buffer
  socket.write(sent)
  await Promise.race([closed(socket), delay(patienceMs)])
  socket.destroy()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
  world.recorder.add('bytes', Number.isNaN(status) ? 'closed' : String(status), 0)
  if (status >= 400 && !isErrorEnvelope(status, jsonOf(body)))
    world.evidence.fail(
      'every error of the service is in the envelope',
      `bytes ${JSON.stringify(String(sent).slice(0, 60))} → ${text.slice(0, 400)}`
    )
  if (status >= 500 && status !== 503 && status !== 505)
    world.evidence.fail('no response is a 500', `bytes ${JSON.stringify(String(sent).slice(0, 60))} → ${head}`)
}

/** Sends a header a character at a time, to a process directly, and leaves. */
export async function sendSlowly(world: World): Promise<void> {
  const socket = open(pick(world, world.fleet.members)?.port ?? world.port)
  for (const character of 'GET /v2/products HTTP/1.1\r\nHost: shop.example\r\n') {
    if (socket.destroyed || world.isOver) break
    socket.write(character)
    await delay(200)
  }
  socket.destroy()
}

/** Reads a long response a little at a time. */
export async function readSlowly(world: World): Promise<void> {
  const socket = open(world.port)
  socket.write('GET /v2/products?perPage=100 HTTP/1.1\r\nHost: shop.example\r\n\r\n'.repeat(8))
  for (let turn = 0; turn < 20 && !socket.destroyed && !world.isOver; turn += 1) {
    socket.pause()
    await delay(400)
    socket.resume()
  }
  socket.destroy()
}

/** Leaves while it sends its body. */
export async function leave(world: World): Promise<void> {
  const socket = open(pick(world, world.fleet.members)?.port ?? world.port)
  const head = 'Host: shop.example\r\nX-Forwarded-Proto: https\r\nContent-Type: application/json\r\nContent-Length: 100'
  socket.write(`POST /v2/tokens HTTP/1.1\r\n${head}\r\n\r\n{`)
  await delay(100)
  socket.destroy()
}

function open(port: number): Socket {
  return connect(port, '127.0.0.1').on('error', () => {})
}

function closed(socket: Socket) {
  return new Promise((resolve) => socket.once('close', resolve))
}
