import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// The local sockets of Linux and Windows are not files: they end with their process, and only one process can have the name.
const isFile = !['linux', 'win32'].includes(process.platform)

/**
 * Runs work while no other process of this machine runs work of the same name. The others wait, and continue when it has ended or its process has
 * been killed: the lock is a local socket that only a running process can listen on.
 */
export async function oneAtATime<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const unlock = await lock(addressOf(name))
  try {
    return await work()
  } finally {
    await unlock()
  }
}

async function lock(address: string): Promise<() => Promise<void>> {
  for (;;) {
    const waiting = new Set<Socket>()
    const server = createServer((socket) => waiting.add(socket.on('error', () => {}))).listen(address)
    try {
      await once(server, 'listening')
      return async () => {
        const ended = once(server, 'close')
        server.close()
        for (const socket of waiting) socket.destroy()
        await ended
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      await holderEnds(address)
    }
  }
}

async function holderEnds(address: string) {
  const socket = connect(address).resume()
  // A socket that is a file outlives a crash. No process accepts connections on it then. Elsewhere, the holder has just ended.
  socket.on('error', ({ code }: NodeJS.ErrnoException) => isFile && code === 'ECONNREFUSED' && rmSync(address, { force: true }))
  await new Promise((resolve) => socket.once('close', resolve))
}

function addressOf(text: string) {
  const name = `concordat-testing-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
  if (isFile) return join(tmpdir(), `${name}.sock`)
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : `\0${name}`
}
