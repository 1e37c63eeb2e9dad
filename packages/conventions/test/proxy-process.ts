import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** How a proxy is started: the files of its folder, by name, and the arguments of its command line. */
export interface Start {
  readonly files: Readonly<Record<string, string>>
  readonly words: readonly string[]
}

/** Runs a proxy with its own folder until the test ends; resolves when its port accepts connections. */
export async function runProxy(t: Test, program: string, port: number, start: (folder: string) => Start): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'proxy-'))
  const { files, words } = start(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 })
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (data: Buffer) => (complaint += data.toString()))
  const gone = once(child, 'exit').catch(() => {})
  t.teardown(async () => {
    child.kill('SIGTERM')
    await gone
    rmSync(folder, { recursive: true, force: true })
  })
  while (!(await responses(port))) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
      throw new Error(`The proxy did not start.\n${complaint}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function responses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve((socket.destroy(), true)))
    socket.on('error', () => resolve(false))
  })
}
