import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { type StepRoute, stepRouteOf } from './step-route.ts'

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

/** A step, and on which routes it has an effect. */
interface Entry<Step> {
  readonly step: Step
  readonly appliesTo: ((route: StepRoute) => boolean) | undefined
}

type Next = (error?: Error | null, payload?: unknown) => void
type Hook = (request: FastifyRequest, reply: FastifyReply, ...rest: never[]) => unknown
type AnyStep = (request: FastifyRequest, reply: FastifyReply, route: StepRoute, payload: never) => unknown
type StepHook = Hook & { readonly [entriesKey]?: readonly Entry<AnyStep>[] }

const entriesKey: unique symbol = Symbol('concordat.steps')
// Registered, so that the preset and its plugins find it with two copies of this module.
const collectorKey: unique symbol = Symbol.for('concordat.stepCollector') as never
type Collecting = FastifyInstance & { readonly [collectorKey]?: StepCollector }

/** Takes steps in place of hooks. Returns false for a step of another instance, which must be a hook. */
type StepCollector = (app: FastifyInstance, stage: Stage, step: AnyStep, appliesTo?: (route: StepRoute) => boolean) => boolean

/**
 * Adds a step to a stage of all requests of an instance: as a hook, or to the hook of a preset that composes the steps of its plugins. The order is
 * that of hooks. With `appliesTo`, the step is left out on routes on which it has no effect; it is called once for each route.
 */
export function addStep<Name extends Stage>(
  app: FastifyInstance,
  stage: Name,
  step: StepOf[Name],
  appliesTo?: (route: StepRoute) => boolean
): void {
  if ((app as Collecting)[collectorKey]?.(app, stage, step, appliesTo) === true) return
  addHook(app, stage, hookOf(stage, [{ step, appliesTo }]))
}

/** Returns a step as a hook for a route, which {@link chain} can compose with others. */
export function stepHook<Name extends Stage>(stage: Name, step: StepOf[Name]): Hook {
  return hookOf(stage, [{ step, appliesTo: undefined }])
}

/** Returns hooks of a route in their order, for the property of the route. Steps that follow one another become one hook. */
export function chain(stage: Stage, ...parts: readonly (Hook | readonly Hook[] | undefined)[]): never {
  const hooks: StepHook[] = []
  for (const hook of parts.flat() as readonly (StepHook | undefined)[]) {
    const entries = hook?.[entriesKey]
    const last = entries && hooks.at(-1)?.[entriesKey]
    if (last !== undefined) hooks.splice(-1, 1, hookOf(stage, [...last, ...(entries as readonly Entry<AnyStep>[])]))
    else if (hook !== undefined) hooks.push(hook)
  }
  return hooks as never
}

/**
 * Composes the steps that plugins add to this instance from now on. The first returned function adds those that were collected, as one hook for each
 * stage, so that a hook that is added next comes after them. The second does the same, and ends the collection.
 */
export function composeSteps(app: FastifyInstance): { readonly addCollected: () => void; readonly end: () => void } {
  const collected = new Map<Stage, Entry<AnyStep>[]>()
  let isOpen = true
  app.decorate(collectorKey, collect)
  return { addCollected, end }

  function collect(instance: FastifyInstance, stage: Stage, step: AnyStep, appliesTo?: (route: StepRoute) => boolean) {
    if (!isOpen || instance !== app) return false
    const entries = collected.get(stage) ?? []
    collected.set(stage, entries)
    entries.push({ step, appliesTo })
    return true
  }

  function addCollected() {
    for (const [stage, entries] of collected) addHook(app, stage, hookOf(stage, entries))
    collected.clear()
  }

  function end() {
    addCollected()
    isOpen = false
  }
}

function addHook(app: FastifyInstance, stage: Stage, hook: Hook) {
  app.addHook(stage as 'onRequest', hook as never)
}

function hookOf(stage: Stage, entries: readonly Entry<AnyStep>[]): StepHook {
  const stepsOf = stepLists(entries)
  const hook = stage === 'onSend' ? sendHook(stepsOf) : stage === 'preParsing' ? parsingHook(stepsOf) : requestHook(stepsOf)
  return Object.assign(hook, { [entriesKey]: entries })
}

let lists = 0

// The steps of a route are chosen with its first request: then all plugins have completed its config.
function stepLists(entries: readonly Entry<AnyStep>[]): (route: StepRoute) => readonly AnyStep[] {
  const all = entries.map(({ step }) => step)
  if (entries.every(({ appliesTo }) => appliesTo === undefined)) return () => all
  const at = lists
  lists += 1
  return (route) =>
    (route.lists[at] ??= entries.filter(({ appliesTo }) => appliesTo?.(route) !== false).map(({ step }) => step)) as readonly AnyStep[]
}

function requestHook(stepsOf: (route: StepRoute) => readonly AnyStep[]): Hook {
  return function runSteps(request: FastifyRequest, reply: FastifyReply, next: Next) {
    const route = stepRouteOf(request)
    const steps = stepsOf(route) as readonly RequestStep[]
    let at = 0
    let outcome: ReturnType<RequestStep>
    while (outcome === undefined && at < steps.length) outcome = (steps[at++] as RequestStep)(request, reply, route)
    if (outcome === undefined) next()
    else if (outcome instanceof Promise) continueLater(outcome, steps.slice(at), request, reply).then(conclude(reply, next), next)
    else if (outcome !== reply) next(outcome as Error)
  }
}

function parsingHook(stepsOf: (route: StepRoute) => readonly AnyStep[]): Hook {
  return function runSteps(request: FastifyRequest, reply: FastifyReply, body: RequestPayload, next: Next) {
    const route = stepRouteOf(request)
    const steps = stepsOf(route) as readonly ParsingStep[]
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

function sendHook(stepsOf: (route: StepRoute) => readonly AnyStep[]): Hook {
  return function runSteps(request: FastifyRequest, reply: FastifyReply, payload: unknown, next: Next) {
    const route = stepRouteOf(request)
    const steps = stepsOf(route) as readonly SendStep[]
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
