import conditionalCaching from '@concordat/conditional-caching'
import { publish } from '@concordat/plugin-kit/wiring'
import { type Arbitrary, array, boolean, constant, dictionary, double, integer, type JsonValue, letrec, oneof, string } from 'fast-check'
import Fastify from 'fastify'

/** Generates JSON documents of every kind, including other scripts and unusual numbers. */
export const documents: Arbitrary<JsonValue> = letrec<{ value: JsonValue }>((tie) => ({
  value: oneof(
    { depthSize: 'small', withCrossShrink: true },
    string({ unit: 'grapheme' }),
    integer(),
    double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    boolean(),
    constant(null),
    array(tie('value'), { maxLength: 5 }),
    dictionary(
      string({ unit: 'grapheme', maxLength: 8 }).filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 5 }
    )
  )
})).value

const tailLength = '"2026-11-21T09:30:00.000Z"}'.length

/** Creates a service that responds with a document and a timestamp, like an envelope, and a function that requests the tag from it. */
export async function taggingService() {
  let body = ''
  const app = Fastify()
  publish(app, { envelope: { wraps: () => true, markReplayed() {}, volatileTail: () => tailLength } })
  await app.register(conditionalCaching)
  app.get('/', async (_request, reply) => reply.type('application/json').serializer(String).send(body))
  await app.ready()
  const tagOf = async (document: JsonValue, timestamp: string) => {
    body = `{"data":${JSON.stringify(document)},"timestamp":"${timestamp}"}`
    return String((await app.inject('/')).headers.etag)
  }
  return { app, tagOf }
}
