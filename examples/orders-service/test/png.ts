import { crc32 } from 'node:zlib'

/** A PNG of one pixel. */
export const png: Buffer = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)

/** Returns a PNG of exactly that size: the bytes before IEND are a private chunk of zeros. */
export function pngOf(size: number): Buffer {
  const content = Buffer.concat([Buffer.from('prVt'), Buffer.alloc(size - png.length - 12)])
  const numbers = Buffer.alloc(8)
  numbers.writeUInt32BE(content.length - 4, 0)
  numbers.writeUInt32BE(crc32(content), 4)
  return Buffer.concat([png.subarray(0, -12), numbers.subarray(0, 4), content, numbers.subarray(4), png.subarray(-12)])
}
