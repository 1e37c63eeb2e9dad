import { subscribe } from 'node:diagnostics_channel'
import type { Messages } from '@concordat/plugin-kit/texts'

/** The texts that a service can send, by their key in translation files, and the folder of its option `translations`. */
export interface ServiceTexts {
  readonly texts: Readonly<Record<string, Messages>>
  readonly folder: string | undefined
}

interface Announced {
  readonly catalogue: { readonly texts: ReadonlyMap<string, Messages> }
  readonly translations: string | undefined
}
interface Service {
  addHook(name: 'onReady', hook: () => Promise<void>): unknown
}

/** The argument with which the process of a service gets {@link sendTexts}. */
export const sendArgument = '--send-texts'

/**
 * Makes the process of a service, which loads this command first, send its texts when every plugin has added its own, and end before it listens. Returns the
 * exit code of the command.
 */
export function sendTexts(): number {
  const announced: Announced[] = []
  subscribe('concordat.catalogues', (message) => announced.push(message as Announced))
  subscribe('fastify.initialization', (message) => {
    // The first hook of its kind, so that no check of a plugin stops the start before.
    ;(message as { readonly fastify: Service }).fastify.addHook('onReady', async () => {
      if (announced.length === 0) return
      const texts = Object.assign({}, ...announced.map(({ catalogue }) => Object.fromEntries(catalogue.texts)))
      const folder = announced.find(({ translations }) => translations !== undefined)?.translations
      await new Promise(() => process.send?.({ texts, folder } satisfies ServiceTexts, () => process.exit()))
    })
  })
  return 0
}
