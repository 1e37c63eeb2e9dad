import { draft7Of, isObject, pointerSteps, sharedFor, valueAt } from '@concordat/plugin-kit/json-schema'
import { Ajv2019, type ErrorObject } from 'ajv/dist/2019.js'
import ajvFormats from 'ajv-formats'
import fastJsonStringify from 'fast-json-stringify'
import { type EventCatalogue, type EventForm, requireForm, requireType } from './event-catalogue.ts'

/** The data of an event as JSON text: as emitted, which is also for API versions without a form of their own, and in these forms. */
export interface WrittenData {
  readonly emitted: string
  readonly versions: Readonly<Record<string, string>>
}

/** Writes the data of an event in all its forms, so that an error does not depend on the versions of the subscriptions. */
export type DataWriter = (type: string, data: unknown) => WrittenData

/**
 * Compiles the schemas of all event types. They can refer to the `shared` ones by `$id`. `report` gets a `TypeError` of one line for each invalid type and
 * each form that cannot be sent.
 */
export function dataWriter(events: EventCatalogue, shared: readonly object[], report: (error: Error) => void): DataWriter {
  const writerOf = formWriters(shared)
  const writers = new Map(Object.entries(events).map(([type, event]) => [type, writerOfType(type, event)]))

  function writerOfType(type: string, event: EventCatalogue[string]) {
    reported(() => requireType(type))
    const emitted = writerOfForm(type, undefined, event, 'Correct the data that is passed to emit.')
    const others = Object.entries(event.versions ?? {}).map(([version, form]) => {
      const write = writerOfForm(type, version, form, `Correct represent of version ${version}.`)
      return [version, (data: unknown) => write(form.represent(data as never))] as const
    })
    // `represent` gets only data that matches the schema of the emitted form.
    return (data: unknown): WrittenData => ({
      emitted: emitted(data),
      versions: Object.fromEntries(others.map(([version, write]) => [version, write(data)]))
    })
  }

  function writerOfForm(type: string, version: string | undefined, form: EventForm, remedy: string) {
    const name = version === undefined ? `"${type}"` : `"${type}" version ${version}`
    const write = reported(() => {
      requireForm(type, version, form)
      return attempt(() => writerOf(form.schema), `options.events ${name} schema cannot be compiled`, 'Correct the schema.')
    })
    return (data: unknown) => attempt(() => (write as FormWriter)(data), `the data of the event ${name} does not match its schema`, remedy)
  }

  // So that all findings are reported together. The service does not start with any.
  function reported<Result>(work: () => Result): Result | undefined {
    try {
      return work()
    } catch (error) {
      report(error as Error)
      return undefined
    }
  }

  return (type, data) => (writers.get(type) as (data: unknown) => WrittenData)(data)
}

function attempt<Result>(work: () => Result, problem: string, remedy: string): Result {
  try {
    return work()
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n')
    throw new TypeError(`webhooks: ${problem}: ${reason.replace(/\.$/, '')}. ${lacksSchema(error) ? sharedFirst : remedy}`, {
      cause: error
    })
  }
}

// An error of Ajv.
function lacksSchema(error: unknown) {
  return typeof (error as { readonly missingRef?: unknown }).missingRef === 'string'
}

const sharedFirst = 'Define it in $defs of the schema, or add it with app.addSchema() before this plugin is registered.'

type FormWriter = (data: unknown) => string

const maxProblems = 5
// Members that the writer leaves out.
const undeclared = new Set(['additionalProperties', 'unevaluatedProperties'])
const unions = new Set(['anyOf', 'oneOf', 'if'])

/**
 * Returns a function that compiles the writer of a JSON Schema, once for each schema. As in a response, only declared members are written, at every depth,
 * and nulls that the schema does not allow are left out. Nothing else is converted: a value that does not match the schema is an error, and so is one that
 * JSON cannot express.
 */
function formWriters(shared: readonly object[]): (schema: object) => FormWriter {
  const metaSchema = new Ajv2019({ strict: false, logger: false })
  const known = new Map<object, FormWriter>()

  function compile(schema: object): FormWriter {
    const draft7 = draft7Of(schema)
    void metaSchema.validateSchema(draft7, true)
    // An instance of its own: an $id in one schema may be that of another in the next.
    const ajv = new Ajv2019({ strict: false, allErrors: true, verbose: true, useDefaults: true, logger: false, validateSchema: false })
    ajvFormats.default(ajv)
    const others = sharedFor(draft7, shared)
    ajv.addSchema(Object.values(others))
    const validate = ajv.compile(draft7)
    const write = fastJsonStringify(draft7, { schema: others as Record<string, never>, ajv: { strict: false, logger: false } })
    return (data) => {
      const value: unknown = JSON.parse(JSON.stringify(data, refuseInexact) ?? 'null')
      while (!validate(value) && removeNulls(value, validate.errors ?? []));
      const problems = problemsOf(validate.errors ?? [])
      if (problems.length > 0) throw new TypeError(problems.join('; '))
      return write(value)
    }
  }

  return (schema) => {
    const writer = known.get(schema) ?? compile(schema)
    known.set(schema, writer)
    return writer
  }
}

// JSON.stringify writes null for NaN, for infinite numbers and for invalid dates.
function refuseInexact(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const isLost = typeof value === 'number' ? !Number.isFinite(value) : value === null && this[name] !== null
  if (isLost || typeof value === 'bigint') throw new TypeError(`${name || 'the data'} is a value that JSON cannot express`)
  return value
}

/** Removes the members that are null and must not be. Returns whether there was one. */
function removeNulls(value: unknown, errors: readonly ErrorObject[]): boolean {
  const removed = errors.filter(({ instancePath, data }) => {
    const end = instancePath.lastIndexOf('/')
    const parent = valueAt(value, instancePath.slice(0, end))
    const [name = ''] = pointerSteps(instancePath.slice(end))
    return data === null && isObject(parent) && parent[name] === null && Reflect.deleteProperty(parent, name)
  })
  return removed.length > 0
}

function problemsOf(errors: readonly ErrorObject[]): readonly string[] {
  const wrong = errors.filter(({ keyword }) => !undeclared.has(keyword))
  // A branch of a union can fail because of a member that another branch declares.
  const shown = wrong.some(({ keyword }) => unions.has(keyword)) ? errors : wrong
  return [...new Set(shown.map(problemOf))].slice(0, maxProblems)
}

// Without the value, which can be a secret.
function problemOf({ instancePath, keyword, params, message }: ErrorObject): string {
  const place = pointerSteps(instancePath)
  if (keyword === 'required') return `${[...place, params['missingProperty']].join('.')} is required`
  const text = keyword === 'additionalProperties' ? `must not have the member ${params['additionalProperty']}` : message
  return `${place.join('.') || 'the data'} ${text}`
}
