// check-alone.ts copies this file into an empty folder with one package and Fastify, and runs it there.
import Fastify from 'fastify'

const { name, doors, registers, alone, optional } = JSON.parse(process.argv[2])

// `import … from 'node:http'` also loads the fetch client of Node.js, which takes as long as all plugins; `process.getBuiltinModule` does not.
if (registers) {
  await import(name)
  if (process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'))
    throw new Error(
      `${name} loads fetch. Use process.getBuiltinModule('node:http') in place of an import, or load what needs it on first use.`
    )
}

// The entry points that need no optional peer.
const complete = []
for (const door of doors.filter((door) => door !== './package.json')) {
  const specifier = name + door.slice(1)
  const names = Object.keys(await import(specifier).then(noteComplete(specifier), needsOptionalPeer))
  if (names.length === 0) throw new Error(`${specifier} exports nothing.`)
}

if (registers) {
  const { default: plugin, serverOptions = () => ({}), ...exported } = await import(name)
  if (typeof plugin !== 'function') throw new Error(`The default export of ${name} is not a plugin.`)
  const app = Fastify(serverOptions())
  // Functions cannot be stored in JSON: these options, or their members, read a property of the request.
  const readerOf = (member) =>
    typeof member === 'string'
      ? (request) => request[member]
      : Object.fromEntries(Object.entries(member).map(([name, of]) => [name, readerOf(of)]))
  const readers = Object.entries(alone.requestMembers ?? {}).map(([option, member]) => [option, readerOf(member)])
  // And these options are lists of what functions of the package return.
  const lists = Object.entries(alone.lists ?? {}).map(([option, makers]) => [
    option,
    Object.entries(makers).map(([maker, options]) => exported[maker](options))
  ])
  const registering = Promise.resolve(app.register(plugin, { ...alone.options, ...Object.fromEntries([...readers, ...lists]) }))
  // What the plugin says without an optional peer that it cannot do without.
  const refusal = await registering.then(
    () => undefined,
    ({ message }) => message
  )
  if (refusal !== alone.refusal) throw new Error(`The start of ${name} was refused with ${refusal}, and not with ${alone.refusal}.`)
  if (refusal === undefined) await probe(app)
}

console.log(JSON.stringify(complete))

async function probe(app) {
  const schema = { response: { 200: { type: 'object', properties: { ok: { type: 'boolean' } } } } }
  app.get('/probe', { config: alone.config ?? {}, schema }, async () => ({ ok: true }))
  const response = await app.inject({ url: '/probe', headers: alone.headers ?? {} })
  const wanted = alone.status ?? 200
  if (response.statusCode !== wanted)
    throw new Error(`GET /probe responded with ${response.statusCode} instead of ${wanted}: ${response.body}`)
  await app.close()
}

function noteComplete(specifier) {
  return (module) => {
    complete.push(specifier)
    return module
  }
}

// An entry point for another library is only for users of that library.
function needsOptionalPeer(error) {
  const missing = /Cannot find package '([^']+)'/.exec(error.message)?.[1]
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !optional.includes(missing)) throw error
  return { default: missing }
}
