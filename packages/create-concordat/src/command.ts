#!/usr/bin/env node
// This file is parsed by every version of Node.js. What it imports is not.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`Node.js ${process.versions.node} is too old. Install version 22.19 or later.`)
  process.exitCode = 1
} else {
  const { run } = await import('./run.ts')
  process.exitCode = await run(process.argv.slice(2))
}
export {}
