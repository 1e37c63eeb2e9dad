import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { realpathSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Takes a folder for this process; resolves to the function that gives it back. Throws when another process has it.
 *
 * The lock is a local socket that only a living process can answer on. A file with a process id would outlive a crash,
 * and the id in it may by then belong to somebody else.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const name = `orders-service-${createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 16)}`
  const address = process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`)
  if (await isAnswered(address))
    throw new Error(`The data folder ${folder} is in use by another process. Stop it, or name another DATA_DIR.`)
  rmSync(address, { force: true })

  const server = createServer((socket) => socket.destroy()).listen(address)
  await once(server, 'listening')
  server.unref()
  return async () => {
    await new Promise((resolve) => server.close(resolve))
  }
}

async function isAnswered(address: string) {
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
