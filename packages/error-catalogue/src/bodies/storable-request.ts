import { stepHook } from '@concordat/plugin-kit/steps'
import { errorCatalogueErrors } from '../catalogue/errors.ts'
import { bodyIsChecked, type CheckedRequest, invalidPart, unstorableValues } from './storable-values.ts'

const { IncomingMessage } = process.getBuiltinModule('node:http')

// The only spelling of NUL in a URL.
const nul = '%00'

/** Returns 404 if a path parameter contains NUL, because no resource can have such an identifier (PostgreSQL cannot store it). */
export function unstorablePath({ raw, params }: CheckedRequest): Error | undefined {
  if (!(raw.url as string).includes(nul) || unstorableValues({ ...(params as object) }).length === 0) return undefined
  return errorCatalogueErrors.create('RESOURCE_NOT_FOUND')
}

/** A step that refuses with 422 a value that cannot be stored, in the query, in the headers, or in a body whose parser did not check it, such as a form. */
export const refuseUnstorable = stepHook('preValidation', unstorablePart)

function unstorablePart(request: CheckedRequest): Error | undefined {
  const { raw, query, headers, body } = request
  const inQuery = (raw.url as string).includes(nul) ? unstorableValues({ ...(query as object) }) : []
  if (inQuery.length > 0) return invalidPart('querystring', inQuery)
  // The HTTP parsers of Node.js refuse NUL in headers. A request that was injected, for example by an adapter for AWS Lambda, has not passed them.
  const wasParsed = raw.httpVersionMajor === 2 || raw instanceof IncomingMessage
  const inHeaders = wasParsed ? [] : unstorableValues({ ...headers })
  if (inHeaders.length > 0) return invalidPart('headers', inHeaders)
  const inBody = body === undefined || body === null || request[bodyIsChecked] === true ? [] : unstorableValues(body)
  return inBody.length > 0 ? invalidPart('body', inBody) : undefined
}
