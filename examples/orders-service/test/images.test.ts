import { crc32 } from 'node:zlib'
import t from 'tap'
import { readImageHeader } from '../src/images/content.ts'
import { png, pngOf } from './png.ts'
import { startService } from './service.ts'

// SOI, an APP0 segment, padding, a frame header of 3 by 2 pixels, EOI.
const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffffc0000b08000200030101110000ffd9', 'hex')
const unknown = '0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0'

const { call } = await startService(t)
const [product] = (await call('GET', '/v1/products')).body.data
const collection = `/v1/products/${product.id}/images`
const upload = (bytes: Buffer, type: string) => call('POST', collection, bytes, { 'content-type': type })

// The PNG with a changed header and the correct checksum of the changed header.
function withHeader(at: number, value: number) {
  const bytes = changed(png, at, value)
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29)
  return bytes
}

function changed(bytes: Buffer, at: number, value: number) {
  return Buffer.concat([bytes.subarray(0, at), Buffer.of(value), bytes.subarray(at + 1)])
}

t.test('an uploaded image has metadata, and its bytes are returned with their own media type [N5]', async (t) => {
  for (const [bytes, type, width, height, ending] of [
    [png, 'image/png', 1, 1, 'png'],
    [jpeg, 'image/jpeg', 3, 2, 'jpg']
  ] as const) {
    const { status, headers, body } = await upload(bytes, type)
    t.equal(status, 201)
    t.match(body.data, { productId: product.id, mediaType: type, width, height, sizeBytes: bytes.length })
    const path = `${collection}/${body.data.id}`
    t.equal(headers['location'], `https://shop.example${path}`)
    for (const accept of [undefined, '*/*', 'application/json', `${type};q=0.2, application/json`]) {
      const known = await call('GET', path, undefined, accept === undefined ? {} : { accept })
      t.strictSame(known.body.data, body.data, `described to ${accept}`)
    }
    for (const accept of [type, 'image/*', 'image/avif,image/webp,image/*,*/*;q=0.8', 'image/png;q=0.5, image/jpeg;q=0.4']) {
      const response = await call('GET', path, undefined, { accept })
      t.equal(response.headers['content-type'], type, accept)
      t.ok(response.bytes.equals(bytes))
      t.equal(response.headers['content-disposition'], `inline; filename="${body.data.id}.${ending}"`)
      t.equal(response.headers['x-content-type-options'], 'nosniff')
      t.match(response.headers['vary'], /accept/i)
    }
  }
})

t.test('returns JSON when the client prefers a type that the image does not have and accepts JSON [N1]', async (t) => {
  for (const [bytes, type, other] of [
    [jpeg, 'image/jpeg', 'image/png'],
    [png, 'image/png', 'image/jpeg']
  ] as const) {
    const path = `${collection}/${(await upload(bytes, type)).body.data.id}`
    for (const accept of [
      `${other}, application/json;q=0.5`,
      `${other}, */*;q=0.1, ${type};q=0`,
      `${other}, application/*;q=0.2, ${type};q=0.1`
    ]) {
      const { status, headers, body } = await call('GET', path, undefined, { accept })
      t.match({ status, type: headers['content-type'] }, { status: 200, type: /^application\/json/ }, accept)
      t.match(body, { data: { mediaType: type }, _links: [{ rel: 'self' }, { rel: 'up' }] })
    }
    for (const accept of [`${other}, ${type};q=0.1`, `${other}, image/*;q=0.2, application/json;q=0.1`, `${type};level=1`])
      t.equal((await call('GET', path, undefined, { accept })).headers['content-type'], type, accept)
  }
})

t.test('HEAD has every header of GET, for each representation [M7]', async (t) => {
  const path = `${collection}/${(await upload(png, 'image/png')).body.data.id}`
  for (const accept of ['application/json', 'image/png', 'image/jpeg']) {
    const [get, head] = [await call('GET', path, undefined, { accept }), await call('HEAD', path, undefined, { accept })]
    const own = { 'request-id': undefined, date: undefined }
    t.strictSame({ ...head.headers, ...own }, { ...get.headers, ...own }, accept)
    t.strictSame([head.status, head.bytes.length], [get.status, 0])
  }
})

t.test('returns 406 for a type that the image does not have', async (t) => {
  const path = `${collection}/${(await upload(png, 'image/png')).body.data.id}`
  for (const accept of ['image/jpeg', 'image/jpeg, image/png;q=0', 'image/webp', 'text/html']) {
    const { status, body } = await call('GET', path, undefined, { accept })
    t.match({ status, code: body.error.code }, { status: 406, code: 'NOT_ACCEPTABLE' }, accept)
  }
})

t.test('returns 422 for a body that is not an image or does not match its Content-Type', async (t) => {
  for (const [bytes, type] of [
    [jpeg, 'image/png'],
    [png, 'image/jpeg'],
    [Buffer.from('<svg onload="alert(1)"/>'), 'image/png'],
    [png.subarray(0, 20), 'image/png'],
    [png.subarray(0, -1), 'image/png'],
    [Buffer.concat([png, Buffer.from('<script>alert(1)</script>')]), 'image/png'],
    [jpeg.subarray(0, 20), 'image/jpeg'],
    [jpeg.subarray(0, -1), 'image/jpeg']
  ] as const) {
    const { status, body } = await upload(bytes, type)
    t.equal(status, 422)
    t.match(body.error, { code: 'INVALID_IMAGE', errors: [{ field: 'body', message: `is not a valid ${type}` }] })
  }
  t.equal((await call('POST', collection, undefined, { 'content-type': 'image/png' })).status, 422, 'an empty body')
})

t.test('returns 415 for another type and 413 above 1 MiB, and accepts exactly 1 MiB', async (t) => {
  t.equal((await call('POST', collection, { name: 'x' })).status, 415)
  t.equal((await upload(png, 'image/gif')).status, 415)
  t.equal((await upload(pngOf(1_048_577), 'image/png')).status, 413)
  t.match(await upload(pngOf(1_048_576), 'image/png'), { status: 201, body: { data: { sizeBytes: 1_048_576 } } })
  const large = Buffer.concat([jpeg.subarray(0, -2), Buffer.alloc(1_048_576 - jpeg.length), jpeg.subarray(-2)])
  t.equal((await upload(large, 'image/jpeg')).status, 201)
})

t.test('images are listed under their product, and can be deleted once', async (t) => {
  const [, other] = (await call('GET', '/v1/products')).body.data
  const { id } = (await call('POST', `/v1/products/${other.id}/images`, png, { 'content-type': 'image/png' })).body.data
  const list = await call('GET', `/v1/products/${other.id}/images`)
  t.strictSame(
    list.body.data.map((image: { id: string }) => image.id),
    [id]
  )
  t.match(list.body._links, [{ rel: 'self' }, { rel: 'up', href: `https://shop.example/v1/products/${other.id}` }])
  t.equal((await call('GET', `${collection}/${id}`)).status, 404, 'not under another product')
  t.equal((await call('DELETE', `${collection}/${id}`)).status, 404)
  t.equal((await call('DELETE', `/v1/products/${other.id}/images/${id}`)).status, 204)
  t.equal((await call('DELETE', `/v1/products/${other.id}/images/${id}`)).status, 404)
})

t.test('a product that does not exist has no images', async (t) => {
  const path = `/v1/products/${unknown}/images`
  t.equal((await call('GET', path)).status, 404)
  t.equal((await call('POST', path, png, { 'content-type': 'image/png' })).status, 404)
})

t.test('reads the headers of valid images and refuses invalid ones', async (t) => {
  t.strictSame(readImageHeader(png), { mediaType: 'image/png', width: 1, height: 1 })
  t.strictSame(readImageHeader(withHeader(19, 9)), { mediaType: 'image/png', width: 9, height: 1 })
  t.strictSame(readImageHeader(jpeg), { mediaType: 'image/jpeg', width: 3, height: 2 })
  for (const [name, bytes] of [
    ['nothing', Buffer.alloc(0)],
    ['a PNG without width', withHeader(19, 0)],
    ['a PNG with a negative height', withHeader(20, 0x80)],
    ['a PNG cut off after its header', png.subarray(0, 33)],
    ['a JPEG without height', changed(jpeg, 27, 0)],
    ['a JPEG with a segment length of zero', Buffer.from('ffd8ffe000010000000000000000', 'hex')],
    ['a JPEG whose only frame header is a table', changed(jpeg, 22, 0xc4)],
    ['a JPEG that continues with other data', Buffer.from('ffd8000000000000000000000000', 'hex')]
  ] as const)
    t.equal(readImageHeader(bytes), undefined, name)
})
