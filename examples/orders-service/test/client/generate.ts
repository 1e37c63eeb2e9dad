// The types of a client of version 2, made of its own description. Run it after a change of the interface: it writes v2.ts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { buildApp } from '../../src/app.ts'
import { readConfiguration } from '../../src/configuration.ts'

/** Where they are. */
export const clientTypesFile: string = join(import.meta.dirname, 'v2.ts')

/** What a description makes of them. Its comments are for who reads the description. */
export async function clientTypesOf(document: OpenAPI3): Promise<string> {
  return `// Made by generate.ts; not to be edited.\n${astToString(await openapiTS(document), { formatOptions: { removeComments: true } })}`
}

if (import.meta.main) {
  const app = await buildApp(readConfiguration({ DATA_DIR: 'memory://', SEED_ORDERS: '0', LOG_LEVEL: 'silent' }))
  writeFileSync(clientTypesFile, await clientTypesOf((await app.inject('/v2/openapi')).json()))
  await app.close()
}
