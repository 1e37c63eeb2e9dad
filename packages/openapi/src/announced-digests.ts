import { planStep } from '@concordat/plugin-kit/steps'
import type { FastifyInstance } from 'fastify'
import type { OpenapiDocument } from './document/document.ts'
import type { Settings, VersionToDescribe } from './options.ts'

/** Adds `Description-Digest` to the responses of versions whose released description is stored. */
export function announceDigests(app: FastifyInstance, { versions, released }: Settings): void {
  const bases = versions.flatMap(({ name, digest }) => (digest === undefined ? [] : [{ base: `${app.prefix}/${name}/`, digest }]))
  if (bases.length === 0) {
    if (released !== undefined)
      app.log[level()](`openapi: ${String(released)} has no released description. Store one with npx concordat release.`)
    return
  }
  planStep(app, 'onRequest', ({ config: { url = '' } }) => {
    const digest = bases.find(({ base }) => url.startsWith(base))?.digest
    if (digest === undefined) return undefined
    return function announceDigest(_request, reply) {
      reply.header('description-digest', digest)
    }
  })
}

// Where a service is developed, its description changes all the time.
const level = () => (process.env['NODE_ENV'] === 'production' ? 'warn' : 'info')

/** Says that a description is not the released one. */
export function compareDigest({ log }: FastifyInstance, { name, digest }: VersionToDescribe, document: OpenapiDocument): void {
  if (digest === undefined || digest === document['x-digest']) return
  log[level()](
    `openapi: the description of ${name} is not its released one, whose digest clients get. When you release it, store it with npx concordat release.`
  )
}
