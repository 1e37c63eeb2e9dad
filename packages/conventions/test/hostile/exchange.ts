import { EventEmitter, once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { parseResponses, type Received } from './response.ts'

/** A step of the client: send bytes, wait for n responses in total or for a promise, pause, end its own side, or reset the connection. */
export type Step =
  | string
  | Buffer
  | (() => Promise<unknown>)
  | { readonly responses: number }
  | { readonly pauseMs: number }
  | { readonly end: 'half' | 'reset' }

export interface Dialogue {
  readonly steps: readonly Step[]
  /** Methods of the requests sent, in order. */
  readonly methods: readonly string[]
  readonly port: number
  readonly host?: string | undefined
  /** Uses TLS, with the protocol to offer, or none. */
  readonly tls?: { readonly alpn?: string } | undefined
}

/** Runs a dialogue over a raw socket and returns everything received. Never rejects: a refused connection returns no bytes. */
export async function exchange(dialogue: Dialogue): Promise<Received> {
  const { port, host = '127.0.0.1', tls, methods, steps } = dialogue
  const socket: Socket =
    tls === undefined
      ? connectTcp({ port, host, allowHalfOpen: true })
      : connectTls({ port, host, rejectUnauthorized: false, ...(tls.alpn === undefined ? {} : { ALPNProtocols: [tls.alpn] }) })
  socket.setNoDelay(true)
  const chunks: Buffer[] = []
  const state = { closed: false, patient: true }
  const news = new EventEmitter()
  const note = (change: Partial<typeof state>) => {
    Object.assign(state, change)
    news.emit('news')
  }
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    note({})
  })
  for (const end of ['end', 'error', 'close']) socket.on(end, () => note({ closed: true }))
  const timer = setTimeout(() => note({ patient: false }), 5000)
  const read = () => parseResponses(Buffer.concat(chunks), methods)
  const until = async (enough: () => boolean) => {
    while (state.patient && !state.closed && !enough()) await once(news, 'news')
  }
  for (const step of steps) {
    if (typeof step === 'string' || Buffer.isBuffer(step)) socket.write(step, 'latin1')
    else if (typeof step === 'function') await step()
    else if ('end' in step) endSocket(socket, step.end)
    else if ('pauseMs' in step) await new Promise((resolve) => setTimeout(resolve, step.pauseMs))
    else await until(() => read().responses.length >= step.responses)
  }
  const wanted = Math.max(1, methods.length)
  await until(() => read().responses.length >= wanted && !expectsClose(read().responses.at(-1)?.headers))
  clearTimeout(timer)
  socket.destroy()
  const bytes = Buffer.concat(chunks)
  return { bytes, closed: state.closed, ...parseResponses(bytes, methods) }
}

function endSocket(socket: Socket, how: 'half' | 'reset') {
  if (how === 'half') socket.end()
  else socket.resetAndDestroy()
}

// A response with "Connection: close" is read until the end of the connection, so that any bytes after it are found.
function expectsClose(headers: readonly (readonly [string, string])[] | undefined) {
  return headers?.some(([name, value]) => name === 'connection' && value.toLowerCase() === 'close') === true
}
