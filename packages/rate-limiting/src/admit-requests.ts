import { planStep, type StepRoute } from '@concordat/plugin-kit/steps'
import { type Contracts, contractOf, contribute, publish } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { addressKey } from './address-key.ts'
import { Admission } from './admission.ts'
import { hasBody } from './body-cost.ts'
import { serviceOverloaded } from './errors.ts'
import type { Slot } from './in-flight.ts'
import type { OverloadSettings } from './options.ts'

const slotKey: unique symbol = Symbol('concordat.rate-limiting.slot')
type Carrier = FastifyRequest & { [slotKey]: Slot | null }

const measureEveryMs = 50
const refused = { name: 'concordat.admission.refusals', unit: '{request}', description: 'Requests that were refused under overload.' }
const inFlight = { name: 'concordat.admission.in_flight', unit: '{request}', description: 'Requests in flight.' }
const limit = { name: 'concordat.admission.limit', unit: '{request}', description: 'Requests in flight from which on more are refused.' }
// The end of a credential distinguishes it, and a Map hashes the whole of each key.
const keyLength = 43

/** Refuses a further request of a client that takes too much of the event loop, and otherwise measures what it takes after its body was read. */
export type AdmitClient = (request: FastifyRequest, client: string, body: RequestPayload) => Error | undefined

/** Refuses requests with 503 while the process has too much to do. The step must be the first that can refuse a request. */
export function admitRequests(app: FastifyInstance, settings: OverloadSettings, isExempt: (route: StepRoute) => boolean): AdmitClient {
  const admission = new Admission(settings)
  let isPart: Contracts['batches']['isPart'] | undefined
  let isCongested: Contracts['transactions']['isCongested'] | undefined
  let respondAtOnce: Contracts['catalogue']['respondAtOnce'] | undefined
  let timer: NodeJS.Timeout

  app.decorateRequest(slotKey, null)
  publish(app, { awaitingAnother })
  contribute(app, 'gauges', {
    metrics: [inFlight, limit],
    read: () => [
      { metric: inFlight, value: admission.size },
      { metric: limit, value: admission.limit }
    ]
  })
  app.addHook('onReady', begin)
  planStep(app, 'onRequest', (route) => (isExempt(route) ? undefined : admit))
  planStep(app, 'onSend', (route) => (isExempt(route) ? undefined : leave))
  app.addHook('onClose', async () => clearInterval(timer))
  return admitClient

  async function begin() {
    isPart = contractOf(app, 'batches')?.isPart
    isCongested = contractOf(app, 'transactions')?.isCongested
    respondAtOnce = contractOf(app, 'catalogue')?.respondAtOnce
    timer = measureLag(admission)
  }

  function admit(request: FastifyRequest, reply: FastifyReply) {
    if (isPart?.(request)) return undefined
    const { authorization = '' } = request.headers
    const isRouteCongested = isCongested?.(request) === true
    const slot = admission.enter(addressKey(request.ip), authorization.slice(-keyLength), isRouteCongested)
    if (slot !== undefined) {
      ;(request as Carrier)[slotKey] = slot
      return undefined
    }
    const error = refuse(isRouteCongested ? 'connections' : 'in_flight')
    if (respondAtOnce === undefined) return error
    respondAtOnce(request, reply, error)
    return reply
  }

  function admitClient(request: FastifyRequest, client: string, body: RequestPayload) {
    const { [slotKey]: slot } = request as Carrier
    if (slot === null) return undefined
    if (!admission.admitClient(client, slot)) return refuse('event_loop')
    // Parsing, validation and the beginning of the handler.
    if (hasBody(request)) body.once('end', () => admission.loopTime.begin(client))
    else admission.loopTime.begin(client)
    return undefined
  }

  function refuse(reason: string) {
    contractOf(app, 'observer')?.count(refused, { reason })
    return serviceOverloaded(admission.retryAfterSeconds())
  }

  // The response is there: a slow reader of a stream or a page costs nothing else.
  function leave(request: FastifyRequest) {
    const carrier = request as Carrier
    if (carrier[slotKey] !== null) admission.leave(carrier[slotKey])
    carrier[slotKey] = null
  }

  function awaitingAnother(request: FastifyRequest) {
    const carrier = request as Carrier
    const { [slotKey]: slot } = carrier
    if (slot === null) return () => {}
    const resume = admission.pause(slot)
    return () => {
      // The response may have been sent meanwhile, for example because the handler timed out.
      if (carrier[slotKey] === slot) resume()
    }
  }
}

// The event loop is late by the time that other work took.
function measureLag(admission: Admission) {
  let measuredAt = performance.now()
  const measure = () => {
    const now = performance.now()
    admission.adapt(now - measuredAt - measureEveryMs)
    measuredAt = now
  }
  return setInterval(measure, measureEveryMs).unref()
}
