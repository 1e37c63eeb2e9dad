import type { Contracts } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type EndingHeaders, endingHeaders } from './ending-headers.ts'
import { type Ending, newestAt, type Version } from './lifecycle.ts'
import type { Settings } from './options.ts'

/** Version and the path under which its routes are served. */
export interface Place {
  readonly version: Version
  /** Path of the version, for example `/v1`, or `/shop/v1` below an outer prefix. */
  readonly prefix: string
  /** End of the version and its deprecation headers for an origin; undefined if the version has no end date. */
  readonly ending: (Ending & { readonly headers: (origin: string) => EndingHeaders }) | undefined
}

/** Versions of an API, under each base path where they are registered. */
export class Places {
  readonly #settings: Settings
  readonly #home: string
  readonly #bases = new Map<string, ReadonlyMap<string, Place>>()

  /** @param home the base path until a version is registered */
  constructor(settings: Settings, home: string) {
    this.#settings = settings
    this.#home = withoutTrailingSlash(home)
  }

  /** Adds this base path for all versions, and returns the place of the given version under it. */
  add(base: string, version: Version): Place {
    if (/[:*]/.test(base))
      throw new TypeError(`versioning: app.apiVersion cannot be used under the prefix "${base}". Use a prefix without parameters.`)
    return this.#below(withoutTrailingSlash(base)).get(version.name) as Place
  }

  /** Returns the place of the version that a path names, which is undefined for an unknown version, or undefined if it does not name one. */
  find(path: string): { readonly place: Place | undefined } | undefined {
    const readable = readablePath(path)
    for (const base of this.#bases.size === 0 ? [this.#home] : this.#bases.keys()) {
      const name = readable.startsWith(`${base}/`) ? readable.slice(base.length + 1).split('/', 1)[0] : undefined
      if (name !== undefined && /^v\d+(?:\.\d+)*$/i.test(name)) return { place: this.#below(base).get(name) }
    }
    return undefined
  }

  /** Returns the name of the newest current version. */
  newest(): string {
    return newestAt(this.#settings.versions, Date.now()).name
  }

  /** Returns the first base path of versions. */
  home(): string {
    return this.#bases.keys().next().value ?? this.#home
  }

  #below(base: string) {
    const { versions } = this.#settings
    const places =
      this.#bases.get(base) ?? new Map(versions.map((version) => [version.name, placeOfVersion(version, base, versions.at(-1) as Version)]))
    this.#bases.set(base, places)
    return places
  }
}

function placeOfVersion(version: Version, base: string, { name: newest }: Version): Place {
  const ending = version.ending && { ...version.ending, headers: endingHeaders(version.ending, base, newest) }
  return { version, prefix: `${base}/${version.name}`, ending }
}

function withoutTrailingSlash(path: string) {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

// The path as the router reads it: decoded, without the origin of an absolute-form target and without the query.
function readablePath(target: string) {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** The key of the places, on the instance that registers the plugin. */
export const placesKey: unique symbol = Symbol('concordat.versioning.places')
/** The key of the place, on the instance of each version. */
export const placeKey: unique symbol = Symbol('concordat.versioning.place')

interface Placed {
  [placesKey]?: Places | undefined
  [placeKey]?: Place | undefined
}

/** Returns the place of a request's version, or undefined outside the versions. An unknown URL belongs to the version that it names. */
export function placeOf(request: FastifyRequest): Place | undefined {
  const { server } = request
  return request.is404 ? (server as Placed)[placesKey]?.find(request.url)?.place : (server as Placed)[placeKey]
}

/** Returns the place of the version in which an instance registers routes, or undefined outside the versions. */
export function placeAt(server: FastifyInstance): Place | undefined {
  return (server as Placed)[placeKey]
}

/**
 * Returns the version of a request, for example `v1`. Outside every version, and without a request, returns the newest current version
 * (rule V8). Unlike `request.apiVersion`, it also works for requests that did not reach a hook.
 */
export function versionName(app: FastifyInstance, request?: FastifyRequest): string {
  return (request && placeOf(request)?.version.name) ?? ((app as Placed)[placesKey] as Places).newest()
}

/**
 * Returns the path of a request's version, for example `/v1`, or `/shop/v1` with an outer prefix; `''` outside a version. Paths passed to
 * `reply.moved` are relative to it.
 */
function versionPrefix(request: FastifyRequest): string {
  return placeOf(request)?.prefix ?? ''
}

/** Returns how other plugins find the version of a request. */
export function versionsOfRequests(app: FastifyInstance): Pick<Contracts['versions'], 'nameOf' | 'prefixOf'> {
  return { nameOf: (request) => versionName(app, request), prefixOf: versionPrefix }
}

/** Returns the whole path of a path that is relative to the request's version. Absolute URLs are unchanged. */
export function targetOf(request: FastifyRequest, path: string): string {
  return /^https?:/i.test(path) ? path : `${versionPrefix(request)}/${path.replace(/^\/+/, '')}`
}
