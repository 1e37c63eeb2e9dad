// The service in production, except that it sends webhooks to receivers on this machine: for `pnpm soak`.
import { serve } from '@concordat/service'
import { buildApp } from '../../src/app.ts'
import { type Settings, settings } from '../../src/settings.ts'

await serve({
  name: 'Orders service',
  settings(): Settings {
    const own = settings()
    return { ...own, variables: { ...own.variables, DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: true } }
  },
  build: buildApp
})
