// A generator of requests to the clinics: one case for each operation, whose values are chosen among those of the caller, of the other tenant and of
// none.
import { type Actor, marker } from './clinic-service.ts'
import type { ClinicWorld, Sent } from './clinic-world.ts'

/** A request of which each world has its own ids. */
export type Step = (world: ClinicWorld) => Sent
type Ref = (world: ClinicWorld) => string
type Schema = Readonly<Record<string, unknown>>
/** The parameters of operations by method and path. */
export type Parameters = Readonly<Record<string, readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]>>

/** Ids that both tenants give to their patients. */
const patientIds: readonly string[] = Array.from({ length: 6 }, (_, index) => `00000000-0000-4000-8000-00000000000${index}`)
const unknownId = '99999999-0000-4000-8000-000000000009'
const names = ['Ada', 'Adam', 'Bea', 'adalbert']

// What is chosen must be the same in both worlds.
function freeze(value: Ref): Ref {
  let known: string | undefined
  return (world) => (known ??= value(world))
}

const fixed =
  (path: string): Ref =>
  () =>
    path

/** Returns a function for each operation that chooses a request. `shared` has both tenants; `own` is where the ids of the actor are counted. */
export function requestsOf(actor: Actor, random: () => number, parameters: Parameters, shared: ClinicWorld, own: ClinicWorld = shared) {
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <Value>(values: readonly Value[]) => values[below(values.length)] as Value
  const one = (share: number) => random() < share
  const note = () => `${actor === 'other' ? marker : 'here'} ${below(3)}`
  const foreigner: Actor = actor === 'one' ? 'other' : 'one'

  /** Chooses an own value, which has the same place in both worlds, one of the other tenant, or an unknown one. */
  function valueOf(pool: string, unknown = pool === 'deliveries' ? `${unknownId}/deliveries/${unknownId}` : unknownId): Ref {
    const index = below(own.pool(actor, pool).length)
    const foreign = pick(shared.pool(foreigner, pool))
    if (one(0.35) && foreign !== undefined) return () => foreign
    return one(0.1) ? () => unknown : (world) => world.pool(actor, pool)[index] ?? unknown
  }
  const patient = () => (one(0.05) ? unknownId : pick(patientIds))
  const idempotent = (name: string, isRequired = false) =>
    isRequired || one(0.5) ? { 'idempotency-key': `"${name}-0123456789-${below(6)}"` } : {}

  function conditions(isWrite: boolean): (world: ClinicWorld) => Readonly<Record<string, string>> {
    const tag = valueOf('tags', '"none"')
    const kind = below(10)
    if (kind < (isWrite ? 6 : 5)) return () => (isWrite ? { 'if-match': '*' } : {})
    if (kind === 9) return () => ({ 'if-none-match': '*' })
    return (world) => ({ [isWrite ? 'if-match' : 'if-none-match']: tag(world) })
  }

  function parameter(name: string, { type, items, enum: values, format }: Schema): Ref {
    if (type === 'array') {
      const parts = [parameter(name, items as Schema), parameter(name, items as Schema)].slice(0, 1 + below(2))
      return (world) => [...new Set(parts.map((part) => part(world)))].join(',')
    }
    if (Array.isArray(values)) return () => String(pick(values))
    if (name.startsWith('patientId')) return () => patient()
    const value = pick(
      name === 'perPage'
        ? ['1', '2', '5', '100']
        : name === 'page'
          ? ['1', '2', '3']
          : type === 'boolean'
            ? ['true', 'false']
            : format === 'date-time'
              ? ['2044-01-02T00:00:00Z', '2020-01-01T00:00:00Z']
              : [...names, 'ada', 'basic', 'Scan', '/v1/patients', 'nobody@example.com', 'ada@example.com', 'kiosk']
    )
    return () => value
  }

  /** Chooses a query of an operation by its description. */
  function query(operation: string, condition = ''): Ref {
    const known = (parameters[operation] ?? []).filter((parameter) => parameter.in === 'query' && parameter.name !== 'after')
    const chosen = known.filter(() => one(0.18)).map(({ name, schema }) => [name, freeze(parameter(name, schema))] as const)
    return (world) => {
      const text = new URLSearchParams(condition)
      for (const [name, value] of chosen) if (!text.has(name)) text.set(name, value(world))
      return text.size === 0 ? '' : `?${text.toString()}`
    }
  }
  function list(operation: string, path: Ref, condition?: string): Step {
    const link = valueOf(`links of ${operation}`, '/v1/patients?after=AAAA')
    const isLink = one(0.3)
    const [search, headers] = [query(operation, condition), conditions(false)]
    return (world) => ({ method: 'GET', path: isLink ? link(world) : path(world) + search(world), headers: headers(world) })
  }

  function read(operation: string, path: Ref, more: Readonly<Record<string, string>> = {}): Step {
    const [search, headers] = [query(operation), conditions(false)]
    const method = one(0.1) ? 'HEAD' : 'GET'
    return (world) => ({ method, path: path(world) + search(world), headers: { ...headers(world), ...more } })
  }

  function write(
    method: string,
    path: Ref,
    body?: Sent['body'],
    headers: Readonly<Record<string, string>> = {},
    isConditional = false
  ): Step {
    const chosen = conditions(true)
    return (world) => ({ method, path: path(world), body, headers: { ...(isConditional && chosen(world)), ...headers } })
  }

  const at = (path: string, pool: string, below = ''): Ref => {
    const id = valueOf(pool)
    return (world) => `/v1/${path}/${id(world)}${below}`
  }
  const ofPatient = (below = ''): Ref => {
    const id = patient()
    return () => `/v1/patients/${id}${below}`
  }
  const delivery = (below = ''): Ref => {
    if (one(0.8)) return at('webhook-subscriptions', 'deliveries', below)
    const [subscription, other] = [valueOf('webhook-subscriptions'), valueOf('deliveries')]
    return (world) => `/v1/webhook-subscriptions/${subscription(world)}/deliveries/${other(world).split('/').at(-1)}${below}`
  }
  const email = () => `${pick(names).toLowerCase()}@example.com`
  const newPatient = () => ({ name: pick(names), email: email(), ...(one(0.7) && { note: note() }), ...(one(0.5) && { planId: 'basic' }) })
  const newVisit = () => ({ patientId: patient(), startsAt: `2044-01-0${1 + below(9)}T00:00:00Z`, note: note() })
  const newSubscription = () => ({
    url: 'https://hooks.example.com/visits',
    eventTypes: ['visit.created', 'patient.changed'],
    description: note()
  })

  function upload(): Step {
    const [title, patientId, bytes, key] = [pick(['Scan', 'X-ray']), patient(), note().repeat(5), idempotent('scan')]
    const body = () => {
      const form = new FormData()
      form.set('title', title)
      form.set('patientId', patientId)
      form.set('image', new Blob([bytes], { type: 'text/plain' }), `${note().replace(' ', '')}.txt`)
      return form
    }
    const form = body()
    return () => ({ method: 'POST', path: '/v1/scans', headers: key, body: form })
  }

  function batch(): Step {
    const id = valueOf('visits')
    const isAtomic = one(0.5)
    const [shownPatient, changedPatient, visit, key] = [patient(), patient(), newVisit(), idempotent('batch', true)]
    return (world) => ({
      method: 'POST',
      path: '/v1/batches',
      headers: key,
      body: {
        ...(isAtomic && { atomic: true }),
        operations: [
          { id: 'patient', method: 'GET', path: `/v1/patients/${shownPatient}` },
          { id: 'visit', method: 'GET', path: `/v1/visits/${id(world)}?include=patient` },
          { id: 'list', method: 'GET', path: '/v1/visits?include=patient&perPage=2' },
          { id: 'new', method: 'POST', path: '/v1/visits', body: visit },
          { id: 'change', method: 'PATCH', path: `/v1/patients/${changedPatient}`, headers: { 'if-match': '*' }, body: { name: 'Ada' } }
        ]
      }
    })
  }

  const webhook = (below: string) => at('webhook-subscriptions', 'webhook-subscriptions', below)
  const files = (): Ref => {
    const [id, file] = [valueOf('exports'), valueOf('exports')]
    const isSame = one(0.8)
    return (world) => `/v1/exports/${id(world)}/files/${(isSame ? id : file)(world)}`
  }

  const cases: Readonly<Record<string, () => Step>> = {
    'GET /': () => read('GET /', fixed('/')),
    'GET /v1': () => read('GET /v1', fixed('/v1')),
    'GET /v1/openapi': () => read('GET /v1/openapi', fixed('/v1/openapi')),
    'GET /v1/plans': () => list('GET /v1/plans', fixed('/v1/plans')),
    'GET /v1/patients': () => list('GET /v1/patients', fixed('/v1/patients')),
    'GET /v1/patients/:id': () => read('GET /v1/patients/:id', ofPatient()),
    'PUT /v1/patients/:id': () => write('PUT', ofPatient(), newPatient(), one(0.5) ? { 'if-none-match': '*' } : {}, one(0.4)),
    'PATCH /v1/patients/:id': () =>
      write('PATCH', ofPatient(), one(0.5) ? { note: note() } : { email: email() }, idempotent('patient'), one(0.9)),
    'DELETE /v1/patients/:id': () => write('DELETE', ofPatient(), undefined, {}, true),
    'POST /v1/patients/:id/restorations': () => write('POST', ofPatient('/restorations'), undefined, idempotent('restoration')),
    'GET /v1/visits': () => list('GET /v1/visits', fixed('/v1/visits')),
    'POST /v1/visits': () => write('POST', fixed('/v1/visits'), newVisit(), idempotent('visit', one(0.9))),
    'GET /v1/visits/:id': () => read('GET /v1/visits/:id', at('visits', 'visits')),
    'PATCH /v1/visits/:id': () =>
      write('PATCH', at('visits', 'visits'), { note: note(), ...(one(0.3) && { patientId: patient() }) }, idempotent('change')),
    'GET /v1/scans': () => list('GET /v1/scans', fixed('/v1/scans')),
    'POST /v1/scans': upload,
    'GET /v1/scans/:id': () =>
      read('GET /v1/scans/:id', at('scans', 'scans'), one(0.5) ? { accept: 'text/plain', ...(one(0.3) && { range: 'bytes=0-9' }) } : {}),
    'DELETE /v1/scans/:id': () => write('DELETE', at('scans', 'scans')),
    'GET /v1/exports': () => list('GET /v1/exports', fixed('/v1/exports')),
    'POST /v1/exports': () => write('POST', fixed('/v1/exports'), { waits: one(0.15), note: note() }, idempotent('export')),
    'GET /v1/exports/:id': () => read('GET /v1/exports/:id', at('exports', 'exports')),
    'DELETE /v1/exports/:id': () => write('DELETE', at('exports', 'exports')),
    'GET /v1/exports/:id/files/:fileId': () => read('GET /v1/exports/:id/files/:fileId', files()),
    'POST /v1/batches': batch,
    'GET /v1/webhook-subscriptions': () => list('GET /v1/webhook-subscriptions', fixed('/v1/webhook-subscriptions')),
    'POST /v1/webhook-subscriptions': () =>
      write('POST', fixed('/v1/webhook-subscriptions'), newSubscription(), idempotent('subscription', true)),
    'GET /v1/webhook-subscriptions/:id': () => read('GET /v1/webhook-subscriptions/:id', webhook('')),
    'PATCH /v1/webhook-subscriptions/:id': () =>
      write('PATCH', webhook(''), one(0.5) ? { description: note() } : { status: pick(['enabled', 'disabled']) }, idempotent('hook'), true),
    'DELETE /v1/webhook-subscriptions/:id': () => write('DELETE', webhook(''), undefined, {}, true),
    'POST /v1/webhook-subscriptions/:id/secrets': () => write('POST', webhook('/secrets'), undefined, idempotent('secret', true)),
    'POST /v1/webhook-subscriptions/:id/pings': () => write('POST', webhook('/pings'), undefined, idempotent('ping', true)),
    'POST /v1/webhook-subscriptions/:id/recoveries': () =>
      write('POST', webhook('/recoveries'), { since: '2026-01-01T00:00:00Z' }, idempotent('recovery', true)),
    'GET /v1/webhook-subscriptions/:id/deliveries': () => list('GET /v1/webhook-subscriptions/:id/deliveries', webhook('/deliveries')),
    'GET /v1/webhook-subscriptions/:id/deliveries/:deliveryId': () =>
      read('GET /v1/webhook-subscriptions/:id/deliveries/:deliveryId', delivery()),
    'GET /v1/webhook-subscriptions/:id/deliveries/:deliveryId/attempts': () =>
      list('GET /v1/webhook-subscriptions/:id/deliveries/:deliveryId/attempts', delivery('/attempts')),
    'POST /v1/webhook-subscriptions/:id/deliveries/:deliveryId/redeliveries': () =>
      write('POST', delivery('/redeliveries'), undefined, idempotent('redelivery', true)),
    'GET /v1/managed-webhook-subscriptions': () =>
      list('GET /v1/managed-webhook-subscriptions', fixed('/v1/managed-webhook-subscriptions')),
    'GET /v1/managed-webhook-subscriptions/:id': () =>
      read('GET /v1/managed-webhook-subscriptions/:id', at('managed-webhook-subscriptions', 'webhook-subscriptions')),
    'PATCH /v1/managed-webhook-subscriptions/:id': () =>
      write('PATCH', at('managed-webhook-subscriptions', 'webhook-subscriptions'), { status: pick(['enabled', 'disabled']) }, {}, true),
    'DELETE /v1/managed-webhook-subscriptions/:id': () =>
      write('DELETE', at('managed-webhook-subscriptions', 'webhook-subscriptions'), undefined, {}, true),
    // Refusals are stored later, and counted by the minute.
    'GET /v1/audit-records': () => list('GET /v1/audit-records', fixed('/v1/audit-records'), 'outcome=committed')
  }
  return { cases, pick, one }
}

/** The operations with which a tenant begins. */
export const beginning: readonly string[] = [
  ...Array.from({ length: 12 }, () => 'PUT /v1/patients/:id'),
  ...['POST /v1/webhook-subscriptions', 'POST /v1/visits', 'POST /v1/scans', 'POST /v1/exports', 'PATCH /v1/patients/:id'].flatMap(
    (one) => [one, one, one]
  )
]
