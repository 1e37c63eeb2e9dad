import { hrefOf } from '@concordat/links'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type EndingHeaders, endingHeaders } from './ending-headers.ts'
import { type Ending, newestAt, type Version } from './lifecycle.ts'
import type { Settings } from './options.ts'

/** A version at the path where it stands. */
export interface Place {
  readonly version: Version
  /** The path of the version, as `/v1`, or `/shop/v1` below an outer prefix. */
  readonly prefix: string
  /** The end of the version and the headers that tell it to this origin; absent as long as no end is set. */
  readonly ending: (Ending & { readonly headers: (origin: string) => EndingHeaders }) | undefined
}

/** Where the versions of an API stand: below each base path that versions were registered under. */
export interface Places {
  /** The place of a version below this base path; every other version of the table stands beside it. */
  add(base: string, version: Version): Place
  /** Reads the version that a path names, be it registered or not: `place` is absent when there is no such version; the whole, when it names none. */
  find(path: string): { readonly place: Place | undefined } | undefined
  /** The newest version that is current now, by name. */
  newest(): string
  /** The first path at which versions stand. */
  home(): string
}

/** Keeps the places of these versions. `home` is the base path as long as no version is registered. */
export function placesOf({ versions, warning, now }: Pick<Settings, 'versions' | 'warning' | 'now'>, home: string): Places {
  const bases = new Map<string, ReadonlyMap<string, Place>>()

  function placesBelow(base: string) {
    const known = bases.get(base)
    if (known !== undefined) return known
    const places = new Map(
      versions.map((version) => {
        const ending = version.ending && { ...version.ending, headers: endingHeaders(version, version.ending, base, versions, warning) }
        return [version.name, { version, prefix: `${base}/${version.name}`, ending }]
      })
    )
    bases.set(base, places)
    return places
  }

  const homeBase = () => bases.keys().next().value ?? withoutTrailingSlash(home)
  return {
    add(base, version) {
      if (/[:*]/.test(base)) throw new TypeError(`A version can't stand under "${base}". Use a prefix without parameters.`)
      return placesBelow(withoutTrailingSlash(base)).get(version.name) as Place
    },
    newest: () => newestAt(versions, now()).name,
    home: homeBase,
    find(path) {
      const readable = readablePath(path)
      for (const base of bases.size === 0 ? [homeBase()] : bases.keys()) {
        const name = readable.startsWith(`${base}/`) ? readable.slice(base.length + 1).split('/', 1)[0] : undefined
        if (name !== undefined && /^v\d+(?:\.\d+)*$/i.test(name)) return { place: placesBelow(base).get(name) }
      }
      return undefined
    }
  }
}

function withoutTrailingSlash(path: string) {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

// The path as the router reads it: without the origin of an absolute-form target and without query, decoded.
function readablePath(target: string) {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

const placesKey: unique symbol = Symbol('concordat.versioning.places')
const placeKey: unique symbol = Symbol('concordat.versioning.place')

/** What this package keeps on Fastify instances: the places on its own, the place on that of each version. Children inherit both. */
interface Placed {
  [placesKey]?: Places
  [placeKey]?: Place
}

export { placeKey, placesKey }

/** The version that a request is made to. An unknown URL belongs to the version that it names. */
export function placeOf(request: FastifyRequest): Place | undefined {
  const server: Placed = request.server as Placed
  return request.is404 ? server[placesKey]?.find(request.url)?.place : server[placeKey]
}

/**
 * The version of a request, as `v1`; outside every version, and for what never became a request, the newest current one
 * (rule V8). Unlike `request.apiVersion` it can be asked for requests that no hook has seen.
 */
export function versionName(app: FastifyInstance, request?: FastifyRequest): string {
  return (request && placeOf(request)?.version.name) ?? ((app as Placed)[placesKey] as Places).newest()
}

/**
 * The path of the version that a request is made to, as `/v1` (with what stands before it, as `/shop/v1`); outside a version `''`.
 * Paths given to `reply.moved` are relative to it.
 */
export function versionPrefix(request: FastifyRequest): string {
  return placeOf(request)?.prefix ?? ''
}

/** The absolute URL of a path that is relative to the version of a request. Always fit for a header; absolute URLs keep their origin. */
export function locationOf(request: FastifyRequest, origin: string, path: string): string {
  const inVersion = /^https?:/i.test(path) ? path : `${versionPrefix(request)}/${path.replace(/^\/+/, '')}`
  return new URL(hrefOf(origin, inVersion)).href
}
