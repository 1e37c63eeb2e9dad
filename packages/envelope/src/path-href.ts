import { hrefOf, originResolver } from '@concordat/links'
import { linkCheck } from '@concordat/route-lints'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ResolvedEnvelopeOptions } from './options.ts'

/** Returns a function that returns the absolute URL of a path to which a reply links. The path is relative to the option `base`. */
export function pathHrefs(
  app: FastifyInstance,
  options: ResolvedEnvelopeOptions
): (reply: FastifyReply, path: string, method: string) => string {
  const originOf = originResolver(options)
  const check = linkCheck(app, 'envelope')
  return ({ request }, path, method) => {
    const absolute = /^https?:/i.test(path) ? path : options.base(request) + path
    check(request, absolute, method)
    return hrefOf(originOf(request), absolute)
  }
}
