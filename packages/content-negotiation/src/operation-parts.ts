import { maxHeaderLength } from '@concordat/plugin-kit/accept'
import type { OperationParts } from '@concordat/plugin-kit/wiring'

const text = { type: 'string' }
// Room for dozens of names.
const maxVaryLength = 1024

/** What negotiation adds to the description of every operation. */
export const operationParts: OperationParts = {
  errors: ['NOT_ACCEPTABLE'],
  parameters: [
    {
      name: 'Accept-Language',
      in: 'header',
      required: false,
      description: 'The preferred languages of messages, in order of preference.',
      schema: { ...text, maxLength: maxHeaderLength }
    }
  ],
  headers: {
    Vary: {
      description: 'The request headers that the response depends on.',
      schema: { ...text, maxLength: maxVaryLength, examples: ['accept'] }
    }
  }
}
