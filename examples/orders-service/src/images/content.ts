/** The properties of an image that its content states. */
export interface ImageHeader {
  readonly mediaType: 'image/png' | 'image/jpeg'
  readonly width: number
  readonly height: number
}

/**
 * Reads the actual type and size of an image from its bytes, whatever its Content-Type is. Returns `undefined` when the bytes do not begin and end as
 * a PNG or JPEG file.
 */
export function readImageHeader(bytes: Buffer): ImageHeader | undefined {
  const header = readPng(bytes) ?? readJpeg(bytes)
  return header && [header.width, header.height].every((pixels) => pixels > 0 && pixels <= 0x7fff_ffff) ? header : undefined
}

const pngStart = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const pngEnd = Buffer.from('0000000049454e44ae426082', 'hex')

// The signature, then IHDR as the first chunk, and nothing after IEND (PNG, W3C, §5.2 and §11.2).
function readPng(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 45 || !bytes.subarray(0, 16).equals(pngStart) || !bytes.subarray(-12).equals(pngEnd)) return undefined
  return { mediaType: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

// SOI, then segments with their lengths until the frame header, which has the size, and EOI somewhere after it (ITU-T T.81, annex B).
// Data that cameras write after EOI is ignored.
function readJpeg(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] as number
    if (isFrameHeader(marker)) {
      const isWhole = bytes.includes('\xff\xd9', at + 9, 'latin1')
      return isWhole ? { mediaType: 'image/jpeg', width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) } : undefined
    }
    // A marker can begin with several bytes 0xFF.
    at += marker === 0xff ? 1 : 2 + Math.max(bytes.readUInt16BE(at + 2), 2)
  }
  return undefined
}

// 0xC4, 0xC8 and 0xCC are in the range of the frame headers but mean Huffman tables, a reserved code and arithmetic conditioning.
function isFrameHeader(marker: number) {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}
