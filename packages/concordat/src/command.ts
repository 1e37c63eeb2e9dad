#!/usr/bin/env node
import { start } from 'create-concordat/start'

await start(() => import('./run.ts'))
