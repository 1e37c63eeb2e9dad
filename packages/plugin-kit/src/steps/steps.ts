import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload, RouteOptions } from 'fastify'
import { type Carrier, routeKey, type StepRoute, stepRouteOf } from './step-route.ts'

/** What a step returns: nothing to continue, an error to fail the request, or the reply, which the step has sent or will send. */
// biome-ignore lint/suspicious/noConfusingVoidType: a step without a return statement is a step too.
type Outcome = FastifyReply | Error | undefined | void

/** A step before the handler. */
export type RequestStep = (request: FastifyRequest, reply: FastifyReply, route: StepRoute) => Outcome | Promise<Outcome>

/** A step before the body is parsed. It can also return another stream with the body. */
export type ParsingStep = (
  request: FastifyRequest,
  reply: FastifyReply,
  route: StepRoute,
  body: RequestPayload
) => Outcome | RequestPayload | Promise<Outcome>

/** A step before the response is sent. It returns another payload, or undefined to leave it. */
export type SendStep = (request: FastifyRequest, reply: FastifyReply, route: StepRoute, payload: unknown) => unknown

/** The steps of each stage. */
interface StepOf {
  readonly onRequest: RequestStep
  readonly preParsing: ParsingStep
  readonly preValidation: RequestStep
  readonly preHandler: RequestStep
  readonly onSend: SendStep
}

/** The stages of a request at which a plugin can add steps. They are those of the hooks of the same names. */
export type Stage = keyof StepOf

const stages = ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'onSend'] as const satisfies readonly Stage[]

/**
 * Returns the step of a route, made for what is constant on the route, or undefined where there is nothing to do. It is called once for each route, with
 * its first request, when all plugins have completed its config.
 */
export type Plan<Step> = (route: StepRoute) => Step | undefined

type Next = (error?: Error | null, payload?: unknown) => void
type Hook = (request: FastifyRequest, reply: FastifyReply, ...rest: never[]) => unknown
type AnyStep = (request: FastifyRequest, reply: FastifyReply, route: StepRoute, payload: never) => unknown
type StepHook = Hook & { readonly [plansKey]?: readonly Plan<AnyStep>[] }

const plansKey: unique symbol = Symbol('concordat.steps')
// Registered, so that the preset and its plugins find it with two copies of this module.
const collectorKey: unique symbol = Symbol.for('concordat.stepCollector') as never
type Collecting = FastifyInstance & { readonly [collectorKey]?: StepCollector }

/** Takes steps in place of hooks. Returns false for a step of another instance, which must be a hook. */
type StepCollector = (app: FastifyInstance, stage: Stage, plan: Plan<AnyStep>) => boolean

/**
 * Adds a step to a stage of all requests of an instance, with a plan that returns the step of each route: as a hook, or to the hook of a preset that
 * composes the steps of its plugins. The order is that of hooks.
 */
export function planStep<Name extends Stage>(app: FastifyInstance, stage: Name, plan: Plan<StepOf[Name]>): void {
  if ((app as Collecting)[collectorKey]?.(app, stage, plan) === true) return
  addHook(app, stage, hookOf(stage, [plan]))
}

/** Returns a step as a hook for a route, which {@link chain} can compose with others. */
export function stepHook<Name extends Stage>(stage: Name, step: StepOf[Name]): Hook {
  return hookOf(stage, [() => step])
}

/** Returns hooks of a route in their order, for the property of the route. Steps that follow one another become one hook. */
export function chain(stage: Stage, ...parts: readonly (Hook | readonly Hook[] | undefined)[]): never {
  const hooks: StepHook[] = []
  for (const hook of parts.flat() as readonly (StepHook | undefined)[]) {
    const plans = hook?.[plansKey]
    const last = plans && hooks.at(-1)?.[plansKey]
    if (last !== undefined) hooks.splice(-1, 1, hookOf(stage, [...last, ...(plans as readonly Plan<AnyStep>[])]))
    else if (hook !== undefined) hooks.push(hook)
  }
  return hooks as never
}

/**
 * Composes the steps that plugins add to this instance from now on. The first returned function adds those that were collected, as one hook for each
 * stage, so that a hook that is added next comes after them. The second does the same, and ends the collection.
 */
export function composeSteps(app: FastifyInstance): { readonly addCollected: () => void; readonly end: () => void } {
  const collected = new Map<Stage, Plan<AnyStep>[]>()
  const added = new Map<Stage, Plan<AnyStep>[]>()
  let isOpen = true
  app.decorate(collectorKey, collect)
  showSteps(app, added)
  return { addCollected, end }

  function collect(instance: FastifyInstance, stage: Stage, plan: Plan<AnyStep>) {
    if (!isOpen || instance !== app) return false
    addTo(collected, stage, [plan])
    return true
  }

  function addCollected() {
    for (const [stage, plans] of collected) {
      addHook(app, stage, hookOf(stage, plans))
      addTo(added, stage, plans)
    }
    collected.clear()
  }

  function end() {
    addCollected()
    isOpen = false
  }
}

function addTo(all: Map<Stage, Plan<AnyStep>[]>, stage: Stage, plans: readonly Plan<AnyStep>[]) {
  all.set(stage, [...(all.get(stage) ?? []), ...plans])
}

// A line for each route, by which a reader knows what its requests run through.
function showSteps(app: FastifyInstance, plans: ReadonlyMap<Stage, readonly Plan<AnyStep>[]>) {
  const routes: { readonly server: FastifyInstance; readonly options: RouteOptions }[] = []
  app.addHook('onRoute', function (options) {
    routes.push({ server: this, options })
  })
  app.addHook('onReady', async () => {
    for (const { server, options } of app.log.level === 'debug' || app.log.level === 'trace' ? routes : []) {
      const route = { config: { ...options.config, method: options.method, url: options.url }, server, isUnknown: false, steps: [] }
      const steps = stages.map((stage) => {
        const own = [options[stage] ?? []].flat() as readonly StepHook[]
        const all = [...(plans.get(stage) ?? []), ...own.flatMap((hook) => hook[plansKey] ?? [() => hook as AnyStep])]
        return [stage, all.flatMap((plan) => plan(route)?.name ?? []).join(', ')]
      })
      app.log.debug({ method: options.method, route: options.url, ...Object.fromEntries(steps) }, 'the steps of a route')
    }
    routes.length = 0
  })
}

function addHook(app: FastifyInstance, stage: Stage, hook: Hook) {
  app.addHook(stage as 'onRequest', hook as never)
}

/** The plans of a hook, and where a route has its steps of them. */
interface StepList {
  readonly at: number
  readonly plans: readonly Plan<AnyStep>[]
}

let hooksMade = 0

function hookOf(stage: Stage, plans: readonly Plan<AnyStep>[]): StepHook {
  const list = { at: hooksMade, plans }
  hooksMade += 1
  const hook = stage === 'onSend' ? sendHook(list) : stage === 'preParsing' ? parsingHook(list) : requestHook(list)
  return Object.assign(hook, { [plansKey]: plans })
}

function planSteps(route: StepRoute, { at, plans }: StepList): readonly AnyStep[] {
  const steps = plans.map((plan) => plan(route)).filter((step) => step !== undefined)
  route.steps[at] = steps
  return steps
}

// Each request runs these three loops about eight times, so they find the steps of its route without a call.

function requestHook(list: StepList): Hook {
  return function runSteps(request: FastifyRequest, reply: FastifyReply, next: Next) {
    let route = (request as Carrier)[routeKey]
    if (route === undefined || route.isUnknown !== request.is404) route = stepRouteOf(request)
    const steps = (route.steps[list.at] ?? planSteps(route, list)) as readonly RequestStep[]
    let at = 0
    let outcome: ReturnType<RequestStep>
    while (outcome === undefined && at < steps.length) outcome = (steps[at++] as RequestStep)(request, reply, route)
    if (outcome === undefined) next()
    else if (outcome instanceof Promise) continueLater(outcome, steps.slice(at), request, reply).then(conclude(reply, next), next)
    else if (outcome !== reply) next(outcome as Error)
  }
}

function parsingHook(list: StepList): Hook {
  return function runSteps(request: FastifyRequest, reply: FastifyReply, body: RequestPayload, next: Next) {
    let route = (request as Carrier)[routeKey]
    if (route === undefined || route.isUnknown !== request.is404) route = stepRouteOf(request)
    const steps = (route.steps[list.at] ?? planSteps(route, list)) as readonly ParsingStep[]
    let stream = body
    for (let at = 0; at < steps.length; at += 1) {
      const outcome = (steps[at] as ParsingStep)(request, reply, route, stream)
      if (outcome === undefined) continue
      if (outcome === reply) return
      if (outcome instanceof Error) return next(outcome)
      if (outcome instanceof Promise) {
        const rest = steps.slice(at + 1).map(
          (step) =>
            (...input: Parameters<RequestStep>) =>
              step(...input, stream) as Outcome
        )
        return void continueLater(outcome, rest, request, reply).then(conclude(reply, next, stream), next)
      }
      stream = outcome as RequestPayload
    }
    next(null, stream)
  }
}

function sendHook(list: StepList): Hook {
  return function runSteps(request: FastifyRequest, reply: FastifyReply, payload: unknown, next: Next) {
    let route = (request as Carrier)[routeKey]
    if (route === undefined || route.isUnknown !== request.is404) route = stepRouteOf(request)
    const steps = (route.steps[list.at] ?? planSteps(route, list)) as readonly SendStep[]
    let sent = payload
    let later: Promise<unknown> | undefined
    for (let at = 0; at < steps.length && later === undefined; at += 1) {
      const result = (steps[at] as SendStep)(request, reply, route, sent)
      if (result instanceof Promise) later = sendLater(result, steps.slice(at + 1), { request, reply, sent })
      else if (result !== undefined) sent = result
    }
    if (later === undefined) next(null, sent)
    else later.then(passOn(next), next)
  }
}

// As Fastify does: after a step that waited, a request that has got its response meanwhile is not processed further.
async function continueLater(pending: Promise<Outcome>, steps: readonly RequestStep[], request: FastifyRequest, reply: FastifyReply) {
  let outcome = await pending
  for (const step of steps) {
    if (outcome !== undefined || reply.sent) break
    outcome = await step(request, reply, stepRouteOf(request))
  }
  return outcome
}

function conclude(reply: FastifyReply, next: Next, stream?: RequestPayload) {
  return (outcome: Outcome) => {
    if (outcome === undefined) next(null, stream)
    else if (outcome !== reply) next(outcome as Error)
  }
}

function passOn(next: Next) {
  return (payload: unknown) => next(null, payload)
}

async function sendLater(
  pending: Promise<unknown>,
  steps: readonly SendStep[],
  { request, reply, sent }: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly sent: unknown }
) {
  let payload = await pending
  if (payload === undefined) payload = sent
  for (const step of steps) {
    const result = await step(request, reply, stepRouteOf(request), payload)
    if (result !== undefined) payload = result
  }
  return payload
}
