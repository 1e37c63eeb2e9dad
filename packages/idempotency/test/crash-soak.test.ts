import { startFleet } from '@concordat/test-harness/fleet'
import t from 'tap'

t.test('startFleet rejects when a process ends before it accepts requests', async (t) => {
  const command = [process.execPath, '-e', 'process.exit(3)'] as const
  await t.rejects(startFleet(2, { command }), /ended before it accepted requests/)
})
