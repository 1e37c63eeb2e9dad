import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('./service.ts', import.meta.url))

/** One process of the fleet; after a restart it has the same address. */
export interface Member {
  readonly url: string
  child: ChildProcess
  isUp: boolean
  /** What it has answered since it was started. */
  served: number
}

/** Several processes of the service on one database. */
export interface Fleet {
  readonly members: readonly Member[]
  /** Kills one without warning, and starts it again at once; resolves when it is dead. */
  kill(member: Member): Promise<void>
  stop(): Promise<void>
}

export async function startFleet(count: number, env: Readonly<Record<string, string>>): Promise<Fleet> {
  let isOver = false
  const members = await Promise.all(
    Array.from({ length: count }, async () => {
      const port = await freePort()
      const member: Member = { url: `http://127.0.0.1:${port}`, child: start(port), isUp: false, served: 0 }
      await ready(member)
      return member
    })
  )

  function start(port: number | string) {
    const { NODE_V8_COVERAGE: _, ...inherited } = process.env
    return spawn(process.execPath, ['--conditions=@concordat/source', program], {
      env: { ...inherited, ...env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit']
    })
  }

  return {
    members,
    async kill(member) {
      await end(member)
      if (isOver) return
      member.served = 0
      member.child = start(new URL(member.url).port)
      void ready(member)
    },
    async stop() {
      isOver = true
      await Promise.all(members.map(end))
    }
  }
}

async function ready(member: Member) {
  await Promise.race([once(member.child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), once(member.child, 'exit')])
  member.isUp = true
}

async function end(member: Member) {
  member.isUp = false
  const gone = once(member.child, 'exit')
  member.child.kill('SIGKILL')
  await gone
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
