import { startFleet } from '@concordat/idempotency/crash-soak'
import t from 'tap'

t.test('a fleet of which a process ends before it accepts requests is not started', async (t) => {
  const command = [process.execPath, '-e', 'process.exit(3)'] as const
  await t.rejects(startFleet(2, { command }), /ended before it accepted requests/)
})
