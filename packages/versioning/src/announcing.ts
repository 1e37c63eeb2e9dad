import type { RequestStep, SendStep } from '@concordat/plugin-kit/steps'
import { joinLinks } from './ending-headers.ts'
import { versionBrownout, versionNotFound, versionRetired } from './errors.ts'
import { brownoutAt } from './lifecycle.ts'
import type { Settings } from './options.ts'
import { type Places, placeOf } from './places.ts'

/** Returns the steps that announce the end of a version on its responses, and refuse requests to one that has ended, is switched off or does not exist. */
export function announcing(
  places: Places,
  { versions, originOf }: Settings
): { readonly announceOrRetire: RequestStep; readonly keepLinks: SendStep } {
  return {
    announceOrRetire(request, reply, { config }) {
      const named = request.is404 ? places.find(request.url) : undefined
      if (named !== undefined && named.place === undefined) return versionNotFound(versions, Date.now())
      const place = placeOf(request)
      if (place?.ending === undefined) return undefined
      const time = Date.now()
      if (time < place.ending.deprecatedAt) return undefined
      const { fields, link } = place.ending.headers(originOf(request))
      reply.headers(fields)
      reply.header('link', joinLinks(reply.getHeader('link'), link))
      const { name } = place.version
      if (time >= place.ending.sunsetAt) return versionRetired(name, place.ending)
      const brownout = config.operational === true ? undefined : brownoutAt(place.ending, time)
      return brownout && versionBrownout(name, place.ending, brownout, time)
    },
    // A handler that sets Link replaces the links of the version, so they are added again.
    keepLinks(request, reply) {
      const ending = placeOf(request)?.ending
      if (ending !== undefined && reply.hasHeader('deprecation'))
        reply.header('link', joinLinks(reply.getHeader('link'), ending.headers(originOf(request)).link))
    }
  }
}
