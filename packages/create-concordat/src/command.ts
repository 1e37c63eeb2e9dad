#!/usr/bin/env node
import process from 'node:process'

// Every version of Node.js can run this file. What it imports then, it cannot.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`Node.js ${process.versions.node} is too old. Install version 22.19 or later.\n`)
  process.exitCode = 1
} else {
  const { run } = await import('./run.ts')
  process.exitCode = await run(process.argv.slice(2))
}
