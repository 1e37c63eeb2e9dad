import { hrefOf, linkHeader } from '@concordat/links'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { joinLinks } from './ending-headers.ts'
import type { Settings } from './options.ts'
import type { Place, Places } from './places.ts'
import { listedVersion, versionSchema, versionsSchema } from './versions-document.ts'

/** Adds the route that lists the versions. */
export function addVersionList(instance: FastifyInstance, path: string, places: Places, settings: Settings): void {
  const { versions, originOf, now, routeConfig } = settings
  instance.get(path, { config: routeConfig, schema: { response: { 200: versionsSchema } } }, async (request, reply) => {
    addLinks(request, reply, places.newest(), settings)
    return { versions: versions.map((version) => listedVersion(version, now(), originOf(request), places.home())) }
  })
}

/** Adds the route of a version at its prefix, which is not a resource of the API. */
export function addVersionEntry(child: FastifyInstance, { version, prefix }: Place, settings: Settings): void {
  const { originOf, now, routeConfig } = settings
  const config = { ...routeConfig, openapi: false }
  child.get('', { config, schema: { response: { 200: versionSchema } } }, async (request, reply) => {
    addLinks(request, reply, version.name, settings)
    return listedVersion(version, now(), originOf(request), prefix.slice(0, prefix.lastIndexOf('/')))
  })
}

// In the envelope where there is one, otherwise in the Link header.
function addLinks(request: FastifyRequest, reply: FastifyReply, version: string, { linksOf, originOf }: Settings) {
  const found = linksOf(version).map(({ rel, path }) => ({ rel, href: hrefOf(originOf(request), path) }))
  const { link } = reply as { readonly link?: (rel: string, href: string) => unknown }
  if (link !== undefined) for (const { rel, href } of found) link.call(reply, rel, href)
  else if (found.length > 0) reply.header('link', joinLinks(reply.getHeader('link'), linkHeader(found)))
}
