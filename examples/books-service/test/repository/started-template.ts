import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { nodeOptions } from '@concordat/test-harness/child'
import type { Test } from 'tap'

export interface StartedTemplate {
  readonly child: ChildProcess
  readonly ended: Promise<{ readonly code: number | null; readonly err: string }>
  /** Returns the address when the service listens. Rejects when it ended. */
  address(): Promise<string>
}

/** Starts the template itself, with everything that can be chosen. */
export function startTemplate(t: Test, env: Readonly<Record<string, string | undefined>>): StartedTemplate {
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const child = spawn(process.execPath, [...nodeOptions, main], {
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'fatal', REDIS_URL: process.env['TEST_REDIS_URL'], ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]).then(([[code], err]) => ({ code, err }))
  return {
    child,
    ended,
    async address() {
      const [line] = await Promise.race([once(child.stdout, 'data'), ended.then(({ err }) => [err])])
      const [, address] = /^Books service at (\S+)/.exec(String(line)) ?? []
      if (address === undefined) throw new Error(`The template did not start: ${line}`)
      return address
    }
  }
}
