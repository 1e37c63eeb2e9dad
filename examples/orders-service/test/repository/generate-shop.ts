// Generates shop.ts, the client of version 2, as `npx concordat client` does from the description of a running service: for the tests, and for the page
// of another example.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildApp } from '../../src/app.ts'
import { settings } from '../../src/settings.ts'

const root = join(import.meta.dirname, '../../../..')

/** Returns the files of the client, by their paths from the root of the repository. */
export async function shopClient(): Promise<Map<string, string>> {
  const app = await buildApp(settings({ DATA_DIR: 'memory://', SEED_ORDERS: '0', LOG_LEVEL: 'silent' }))
  const description = (await app.inject('/v2/openapi')).body
  await app.close()
  const folder = await mkdtemp(join(tmpdir(), 'client-'))
  const [source, out] = [join(folder, 'openapi.json'), join(folder, 'shop.ts')]
  await writeFile(source, description)
  const command = join(root, 'packages/concordat/src/command.ts')
  await promisify(execFile)(process.execPath, ['--conditions=@concordat/source', command, 'client', source, '--out', out])
  const text = await readFile(out, 'utf8')
  await rm(folder, { recursive: true })
  return new Map(['orders-service/test/repository', 'shop-page/page'].map((folder) => [`examples/${folder}/shop.ts`, text]))
}
