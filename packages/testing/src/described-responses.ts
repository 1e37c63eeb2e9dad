import {
  type CheckedResponse,
  type RequiredHeaders,
  type ResponseChecker,
  requiredHeaders,
  responseChecker
} from '@concordat/openapi/testing'

type OpenapiDocument = Parameters<typeof responseChecker>[0]

/** What the description of a version is used for. */
interface Description {
  readonly check: ResponseChecker
  readonly requires: RequiredHeaders
}

/** The descriptions of a service. */
export interface Descriptions {
  /** Returns the lower-case names of the headers that the description requires of a request. */
  requiredBy(method: string, url: string): Promise<readonly string[]>
  /** Rejects with a line for each difference when the response does not match its description. */
  check(received: CheckedResponse): Promise<void>
}

// The services that a test file starts one after another have the same description except for their address. To compile the schemas takes longer
// than most tests.
const known = new Map<string, Description>()

/** Reads the description of each version when a request of that version first needs it. Requests outside of versions have none. */
export function descriptionsOf(read: (path: string) => Promise<{ readonly status: number; readonly text: string }>): Descriptions {
  const versions = new Map<string, Promise<Description | undefined>>()

  function descriptionOf(url: string) {
    const version = /^.*?\/v\d+(?=\/)/.exec(url.split('?', 1)[0] as string)?.[0]
    if (version === undefined || url.split('?', 1)[0] === `${version}/openapi`) return undefined
    let description = versions.get(version)
    if (description === undefined) versions.set(version, (description = readDescription(`${version}/openapi`)))
    return description
  }

  async function readDescription(path: string) {
    const { status, text } = await read(path)
    // The service has no such version, or has it no longer, which a test may prove.
    if (status !== 200 && /"code":"VERSION_(?:NOT_FOUND|RETIRED)"/.test(text)) return undefined
    if (status !== 200)
      throw new Error(
        `testing: GET ${path} returns ${status}, so that responses cannot be checked. Register @concordat/openapi, or set checkResponses: false.`
      )
    return descriptionIn(JSON.parse(text))
  }

  return {
    async requiredBy(method, url) {
      return (await descriptionOf(url))?.requires(method, url) ?? []
    },
    async check(received) {
      const problems = (await descriptionOf(received.url))?.check(received) ?? []
      if (problems.length > 0) throw new Error(`testing: a response differs from its description.\n${problems.join('\n')}`)
    }
  }
}

function descriptionIn(document: OpenapiDocument): Description {
  const text = JSON.stringify({ ...document, servers: undefined })
  const description = known.get(text) ?? { check: responseChecker(document), requires: requiredHeaders(document) }
  known.set(text, description)
  return description
}
