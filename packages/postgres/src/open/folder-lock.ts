import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { realpathSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// The local sockets of Linux and Windows are not files: they end with their process, and only one process can have the name.
const isFile = !['linux', 'win32'].includes(process.platform)

/**
 * Locks a folder for this process. Resolves to the function that unlocks it. Rejects when another process, or another call in this process,
 * has the lock.
 *
 * The lock is a local socket that only a running process can listen on. A file with a process id would outlive a crash,
 * and another process may have that id by then.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const address = addressOf(realpathSync(folder))
  // A socket that is a file outlives a crash. No process accepts connections on it then.
  if (!(await hasListener(address)) && isFile) rmSync(address, { force: true })

  const server = createServer((socket) => socket.destroy()).listen(address)
  await once(server, 'listening').catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
    throw new Error(`postgres: the folder ${folder} is in use by another process. Stop that process, or use another folder.`)
  })
  server.unref()
  return async () => {
    await new Promise((resolve) => server.close(resolve))
  }
}

function addressOf(folder: string) {
  const name = `concordat-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`
  if (isFile) return join(tmpdir(), `${name}.sock`)
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : `\0${name}`
}

async function hasListener(address: string) {
  const socket = connect(address)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
