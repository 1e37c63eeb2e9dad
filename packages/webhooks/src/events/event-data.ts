import type { EventCatalogue } from './event-catalogue.ts'
import { formWriters } from './form-writer.ts'

/** The data of an event as JSON text, in each form that its type declares. */
export interface WrittenData {
  /** The form in which the service emits the data, which is also that of API versions without a form of their own. */
  readonly emitted: string
  readonly versions: Readonly<Record<string, string>>
}

/**
 * Writes the data of an event of a known type in all its forms, so that an error does not depend on the versions of the subscriptions. Throws a `TypeError`
 * that names the type and the fields if the data does not match a schema.
 */
export type DataWriter = (type: string, data: unknown) => WrittenData

/** Compiles the schemas of all event types. Throws a `TypeError` with a one-line message for a schema that cannot be compiled. */
export function dataWriter(events: EventCatalogue): DataWriter {
  const writerOf = formWriters()
  const writers = new Map(Object.entries(events).map(([type, event]) => [type, writerOfType(type, event)]))

  function writerOfType(type: string, { schema, versions = {} }: EventCatalogue[string]) {
    const emitted = writerOfForm(`"${type}"`, schema, 'Correct the data that is passed to emit.')
    const others = Object.entries(versions).map(([version, form]) => {
      const write = writerOfForm(`"${type}" version ${version}`, form.schema, `Correct represent of version ${version}.`)
      return [version, (data: unknown) => write(form.represent(data as never))] as const
    })
    // `represent` gets only data that matches the schema of the emitted form.
    return (data: unknown): WrittenData => ({
      emitted: emitted(data),
      versions: Object.fromEntries(others.map(([version, write]) => [version, write(data)]))
    })
  }

  function writerOfForm(form: string, schema: object, remedy: string) {
    const write = attempt(() => writerOf(schema), `options.events ${form} schema cannot be compiled`, 'Correct the schema.')
    return (data: unknown) => attempt(() => write(data), `the data of the event ${form} does not match its schema`, remedy)
  }

  return (type, data) => (writers.get(type) as (data: unknown) => WrittenData)(data)
}

function attempt<Result>(work: () => Result, problem: string, remedy: string): Result {
  try {
    return work()
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n')
    throw new TypeError(`webhooks: ${problem}: ${reason.replace(/\.$/, '')}. ${remedy}`, { cause: error })
  }
}
