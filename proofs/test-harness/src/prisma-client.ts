import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** Generates a Prisma client in a folder that git ignores, inside the package `inPackage`, so that its imports resolve. */
export async function generateClient(
  t: { teardown(work: () => void): void },
  inPackage: string,
  models: string
): Promise<{ folder: string; Client: unknown }> {
  const scratch = join(inPackage, '.tap')
  mkdirSync(scratch, { recursive: true })
  const folder = mkdtempSync(join(scratch, 'prisma-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const schema = join(folder, 'schema.prisma')
  writeFileSync(schema, `${generator}\n${models}`)
  const command = join(dirname(createRequire(join(inPackage, 'package.json')).resolve('prisma/package.json')), 'build/index.js')
  // The command looks for an engine and would download it, although this kind of client does not need it. The variable names an
  // existing file instead.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' }
  await promisify(execFile)(process.execPath, [command, 'generate', '--schema', schema], { cwd: folder, env })
  const { PrismaClient } = await import(pathToFileURL(join(folder, 'client/client.ts')).href)
  return { folder, Client: PrismaClient }
}

const generator = `
generator client {
  provider               = "prisma-client"
  output                 = "./client"
  engineType             = "client"
  runtime                = "nodejs"
  moduleFormat           = "esm"
  generatedFileExtension = "ts"
  importFileExtension    = "ts"
}
datasource db {
  provider = "postgresql"
}`
