import { targetWithoutSecrets } from '@concordat/plugin-kit/links'

const maxPathLength = 1024

// A parameter with its pattern, `::` for a colon, and a wildcard. A pattern that contains brackets is not found.
const parameter = /::|:(\w+)(?:\([^()]*\))?\??|\*/g
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Returns the path of a request in the one spelling that all requests to this route with these parameters share. */
export function canonicalPath(route: string, { params, url }: { readonly params: unknown; readonly url: string }): string {
  // A schema may have made numbers of them.
  const values = (params ?? {}) as Readonly<Record<string, string | number | boolean | null | undefined>>
  const filled = route.replaceAll(parameter, (found, name?: string) => {
    if (found === '::') return ':'
    const value = String(values[name ?? '*'] ?? '')
    return name === undefined ? written(value) : written(value).replaceAll('/', '%2F')
  })
  // Only the router understands a pattern with brackets inside.
  const path = filled.includes('(') ? url.replace(/[?#].*$/s, '') : filled
  return targetWithoutSecrets(path).slice(0, maxPathLength)
}

function written(value: string) {
  return encodeURI((uuid.test(value) ? value.toLowerCase() : value).toWellFormed()).replaceAll(/[?#]/g, encodeURIComponent)
}
