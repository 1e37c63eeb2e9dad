import { methodsOf } from '../document/described-route.ts'
import type { PathItem, Response } from '../document/document.ts'
import type { RegisteredRoute } from './operation-draft.ts'
import { pathOf } from './parameter-drafts.ts'

/**
 * Returns the extension `x-job` of the operation that starts a job: where its status is, and where its result is and in which media types. `items` are the
 * paths of the version.
 */
export function jobPaths(
  routes: readonly RegisteredRoute[],
  items: Readonly<Record<string, PathItem>>
): (path: string, method: string) => { readonly 'x-job'?: object } {
  const parts = routes.flatMap(({ route }) =>
    methodsOf(route).map((method) => ({ method: method.toLowerCase(), path: pathOf(route.url), part: route.config?.job }))
  )
  return (path, method) => {
    const isStart = parts.some((one) => one.path === path && one.method === method && one.part === 'start')
    const status = parts.find(({ path: other, part }) => part === 'status' && parentOf(other) === path)?.path
    if (!isStart || status === undefined) return {}
    const result = parts.find((one) => one.part === 'result' && one.method === 'get' && one.path.startsWith(`${status}/`))?.path
    if (result === undefined) return { 'x-job': { status } }
    const success = items[result]?.['get']?.responses?.['200'] as Response | undefined
    return { 'x-job': { status, result, mediaTypes: Object.keys(success?.content ?? {}) } }
  }
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'))
