import { serve } from '@concordat/service'
import { buildApp } from './app.ts'
import { settings } from './settings.ts'

await serve({ name: 'Orders service', tryPath: '/v2/products', settings, build: buildApp })
