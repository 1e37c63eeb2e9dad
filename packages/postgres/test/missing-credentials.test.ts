import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { openDatabase } from '@concordat/postgres/open'
import t, { type Test } from 'tap'

/** A message of the protocol: its type, its length and its body. */
function message(type: string, body: Buffer) {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** A server that only does what happens before a connection can be used. */
async function serverThat(t: Test, respond: (socket: Socket, data: Buffer) => void) {
  const server = createServer((socket) => {
    socket.on('data', (data) => respond(socket, data)).on('error', () => {})
    t.teardown(() => socket.destroy())
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Refuses every connection with this SQLSTATE. */
function refusal(code: string, text: string) {
  return (socket: Socket) => socket.end(message('E', Buffer.from(`SFATAL\0C${code}\0M${text}\0\0`)))
}

/** Requires a password, with SCRAM. */
function requirePassword(socket: Socket, data: Buffer) {
  const nonce = /r=([^,]+)/.exec(data.toString('latin1'))?.[1]
  if (data[0] !== 'p'.charCodeAt(0)) return void socket.write(message('R', Buffer.from('\0\0\0\nSCRAM-SHA-256\0\0', 'latin1')))
  return void socket.write(message('R', Buffer.from(`\0\0\0\vr=${nonce}x,s=c2FsdA==,i=4096`, 'latin1')))
}

async function reasonOf(url: string) {
  const opening = openDatabase({ url, prepare: async (database) => void (await database.query('SELECT 1')) })
  const error = await opening.then(
    () => undefined,
    (thrown: Error) => thrown
  )
  return (error?.cause as Error | undefined)?.message
}

t.test('names the user or the password that the URL of the database lacks, with the form of a URL', async (t) => {
  const form = 'Write it as postgres://user:password@host:5432/database.'
  t.intercept(process, 'env', { value: { ...process.env, PGUSER: '', PGPASSWORD: '' } })
  const refuses = await serverThat(t, refusal('28000', 'role "root" does not exist'))
  t.equal(
    await reasonOf(`postgres://127.0.0.1:${refuses}/books`),
    `role "root" does not exist. The URL of the database has no user. ${form}`
  )
  t.equal(await reasonOf(`postgres://me:secret@127.0.0.1:${refuses}/books`), 'role "root" does not exist')
  t.equal(await reasonOf(`postgres://127.0.0.1:${refuses}/books?user=me&password=secret`), 'role "root" does not exist')
  const requires = await serverThat(t, requirePassword)
  t.equal(
    await reasonOf(`postgres://me@127.0.0.1:${requires}/books`),
    `SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string. The URL of the database has no password. ${form}`
  )
  const other = await serverThat(t, refusal('53300', 'too many connections'))
  t.equal(await reasonOf(`postgres://127.0.0.1:${other}/books`), 'too many connections')
})
