import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { hrefOf, type Link, linkHeader, originResolver, targetWithoutSecrets } from '@concordat/plugin-kit/links'
import Fastify from 'fastify'
import t from 'tap'

t.test('stock Fastify responds with absolute links and a Link header [K1] [K2]', async (t) => {
  const app = Fastify()
  const originOf = originResolver({ publicUrl: 'https://api.example.com' })
  app.get('/orders', async (request, reply) => {
    const self: Link = { rel: 'self', href: hrefOf(originOf(request), targetWithoutSecrets(request.url)), method: 'GET' }
    reply.header('link', linkHeader([self]))
    return { _links: [self] }
  })
  const response = await app.inject('/orders?page=2&api_key=S3CRET')
  t.equal(response.headers['link'], '<https://api.example.com/orders?page=2>; rel="self"')
  t.strictSame(response.json(), { _links: [{ rel: 'self', href: 'https://api.example.com/orders?page=2', method: 'GET' }] })
})

t.test('neither a false Host nor an absolute target changes the host of a link', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const originOf = originResolver({ allowedHosts: ['api.example.com'] })
  app.get('/orders', (request, reply) => reply.send(hrefOf(originOf(request), targetWithoutSecrets(request.url))))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo

  const hrefFor = async (target: string, host: string) => {
    const socket = connect(port, '127.0.0.1')
    socket.end(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    let response = ''
    socket.on('data', (bytes) => (response += String(bytes)))
    await once(socket, 'close')
    return response.split('\r\n\r\n')[1]
  }
  t.equal(await hrefFor('/orders', 'api.example.com'), 'http://api.example.com/orders')
  t.equal(await hrefFor('/orders', 'evil.example'), 'http://api.example.com/orders')
  t.equal(await hrefFor('http://user:pass@evil.example/orders?token=S3CRET', 'evil.example'), 'http://api.example.com/orders')
})
