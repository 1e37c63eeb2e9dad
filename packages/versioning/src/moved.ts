import { hrefOf, linkCheck } from '@concordat/plugin-kit/links'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Settings } from './options.ts'
import { targetOf } from './places.ts'

/** Adds `reply.moved(path)`. */
export function addMoved(instance: FastifyInstance, { originOf }: Settings): void {
  const checkLink = linkCheck(instance, 'versioning')
  instance.decorateReply('moved', moved)

  function moved(this: FastifyReply, path: string) {
    const target = targetOf(this.request, path)
    checkLink(this.request, target)
    // Parsed, so that it is safe for a header.
    const origin = originOf(this.request)
    const { href, origin: placeholder } = new URL(hrefOf(origin || 'http://localhost', target))
    this.code(301).header('location', origin === '' ? href.slice(placeholder.length) : href)
    return this.send()
  }
}
