import { hrefOf, linkHeader } from '@concordat/plugin-kit/links'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { joinLinks } from './ending-headers.ts'
import { statusAt, type Version } from './lifecycle.ts'
import type { Settings } from './options.ts'
import type { Place, Places } from './places.ts'

const text = { type: 'string' }
const versionSchema = {
  type: 'object',
  required: ['version', 'status', 'href'],
  properties: {
    version: text,
    status: { type: 'string', enum: ['current', 'deprecated', 'retired'] },
    href: { type: 'string', format: 'uri' },
    deprecatedAt: { type: 'string', format: 'date-time' },
    sunsetAt: { type: 'string', format: 'date-time' },
    documentation: { type: 'string', format: 'uri' },
    brownouts: {
      type: 'array',
      items: {
        type: 'object',
        required: ['from', 'until'],
        properties: { from: { type: 'string', format: 'date-time' }, until: { type: 'string', format: 'date-time' } }
      }
    }
  }
}
const versionsSchema = {
  type: 'object',
  required: ['versions'],
  properties: { versions: { type: 'array', items: versionSchema } }
}

const config = { public: true, operational: true } as object

/** Adds the route that lists the versions. */
export function addVersionList(instance: FastifyInstance, path: string, places: Places, settings: Settings): void {
  instance.get(path, { config, schema: { response: { 200: versionsSchema } } }, async (request, reply) => {
    addLinks(request, reply, places.newest(), settings)
    return { versions: settings.versions.map((version) => described(version, request, places.home(), settings)) }
  })
}

/** Adds the route of a version at its prefix, which is not a resource of the API. */
export function addVersionEntry(child: FastifyInstance, { version, prefix }: Place, settings: Settings): void {
  const own = { ...config, openapi: false }
  child.get('', { config: own, schema: { response: { 200: versionSchema } } }, async (request, reply) => {
    addLinks(request, reply, version.name, settings)
    return described(version, request, prefix.slice(0, prefix.lastIndexOf('/')), settings)
  })
}

/** Returns a version as clients see it (rule V5). Dates are ISO 8601 and are present if the version has an end. */
function described(version: Version, request: FastifyRequest, base: string, { originOf }: Settings) {
  const { name, ending } = version
  return {
    version: name,
    status: statusAt(version, Date.now()),
    href: hrefOf(originOf(request), `${base}/${name}`),
    ...(ending && {
      deprecatedAt: new Date(ending.deprecatedAt).toISOString(),
      sunsetAt: new Date(ending.sunsetAt).toISOString(),
      documentation: ending.documentation,
      ...(ending.brownouts.length > 0 && {
        brownouts: ending.brownouts.map(({ from, until }) => ({ from: new Date(from).toISOString(), until: new Date(until).toISOString() }))
      })
    })
  }
}

// In the envelope where there is one, otherwise in the Link header.
function addLinks(request: FastifyRequest, reply: FastifyReply, version: string, { linksOf, originOf }: Settings) {
  const found = linksOf(version).map(({ rel, path }) => ({ rel, href: hrefOf(originOf(request), path) }))
  const { link } = reply as { readonly link?: (rel: string, href: string) => unknown }
  if (link !== undefined) for (const { rel, href } of found) link.call(reply, rel, href)
  else if (found.length > 0) reply.header('link', joinLinks(reply.getHeader('link'), linkHeader(found)))
}
