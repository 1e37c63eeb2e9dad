import { serve } from '@concordat/service'
import { buildApp } from './app.ts'
import { settings } from './settings.ts'

await serve({ name: 'Books service', tryPath: '/v1/books', settings, build: buildApp })
