import { Readable } from 'node:stream'
import { requirePeers } from '@concordat/plugin-kit/options'
import type * as FileType from 'file-type'

const peer = 'file-type@22.3'
let detector: typeof FileType | undefined

// What has no signature, but is text.
const text = /^text\/|[/+](?:json|xml)$|^application\/(?:x-ndjson|yaml)$/

/** Loads `file-type` if it is installed. */
export async function loadDetector(): Promise<void> {
  detector ??= await import('file-type').catch(() => undefined)
}

/**
 * Throws a `TypeError` for a media type that the bytes of a file do not show, and if it takes `file-type` to see it, which is not installed. `where` names
 * the rules.
 */
export function requireVisible(types: readonly string[], where: string): void {
  const others = types.filter((type) => !text.test(type))
  if (others.length === 0) return
  requirePeers(`${where}.types`, [peer], import.meta)
  const unknown = others.find((type) => detector?.supportedMimeTypes.has(type as never) === false)
  if (unknown !== undefined)
    throw new TypeError(
      `${where}.types contains "${unknown}", which bytes do not show. Use the name that file-type has for it, or remove types and check the file in the handler.`
    )
}

/** Returns whether the bytes are of a media type that {@link requireVisible} accepts. Of text, only that it is UTF-8 without NUL. */
export async function isOfType(type: string, bytes: AsyncIterable<Uint8Array>): Promise<boolean> {
  if (text.test(type)) return isText(bytes)
  const stream = Readable.from(bytes)
  try {
    const found = await (detector as typeof FileType).fileTypeFromStream(Readable.toWeb(stream) as never)
    return found?.mime === type
  } finally {
    stream.destroy()
  }
}

async function isText(bytes: AsyncIterable<Uint8Array>) {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of bytes) if (decoder.decode(chunk, { stream: true }).includes('\0')) return false
    decoder.decode()
    return true
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return false
    throw error
  }
}
