import { crc32 } from 'node:zlib'

/** The properties of an image that its content states. */
export interface ImageHeader {
  readonly mediaType: 'image/png' | 'image/jpeg'
  readonly width: number
  readonly height: number
}

/**
 * Reads the actual type and size of an image from its bytes, whatever its Content-Type is. Returns `undefined` when the bytes are not a
 * complete PNG or JPEG file.
 */
export function readImageHeader(bytes: Buffer): ImageHeader | undefined {
  return readPng(bytes) ?? readJpeg(bytes)
}

const pngStart = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const depthsByColour: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16]
}

// The signature, then IHDR as the first chunk (PNG, W3C, §5.2 and §11.2.1).
function readPng(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 33 || !bytes.subarray(0, 16).equals(pngStart)) return undefined
  const [width, height, depth, colour] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20), bytes.readUInt8(24), bytes.readUInt8(25)]
  if (!isSize(width) || !isSize(height) || !depthsByColour[colour]?.includes(depth)) return undefined
  return isWholePng(bytes) ? { mediaType: 'image/png', width, height } : undefined
}

// Chunks with correct checksums, at least one of them with data, and nothing after IEND (§5.3 and §5.6).
function isWholePng(bytes: Buffer) {
  let hasData = false
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at)
    if (end > bytes.length || crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return false
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (type === 'IEND') return hasData && end === bytes.length
    hasData ||= type === 'IDAT'
    at = end
  }
  return false
}

// SOI, then segments with their lengths until the frame header, which has the size, and EOI somewhere after it (ITU-T T.81, annex B).
// Data that cameras write after EOI is ignored.
function readJpeg(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number
    if (marker === 0xff) {
      at += 1
      continue
    }
    if (isFrameHeader(marker)) {
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)]
      const isWhole = bytes.includes('\xff\xd9', at + 9, 'latin1')
      return isWhole && isSize(width) && isSize(height) ? { mediaType: 'image/jpeg', width, height } : undefined
    }
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2) return undefined
    at += 2 + length
  }
  return undefined
}

// 0xC4, 0xC8 and 0xCC are in the range of the frame headers but mean Huffman tables, a reserved code and arithmetic conditioning.
function isFrameHeader(marker: number) {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}

function isSize(pixels: number) {
  return pixels > 0 && pixels <= 0x7fff_ffff
}
