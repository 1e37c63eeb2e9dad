import type { FastifyInstance } from 'fastify'
import type { Contracts, Contributions, Route } from './published.ts'

// Registered, so that two copies of this module find the same contracts.
const contractsKey: unique symbol = Symbol.for('concordat.contracts') as never
const contributionsKey: unique symbol = Symbol.for('concordat.contributions') as never

interface Wired {
  [contractsKey]?: Partial<Contracts>
  [contributionsKey]?: { readonly [Name in keyof Contributions]: Contributions[Name][] }
}

/** Publishes contracts on an instance, where the instance itself and its children find them. */
export function publish(app: FastifyInstance, contracts: Partial<Contracts>): void {
  if (Object.hasOwn(app, contractsKey)) Object.assign((app as Wired)[contractsKey] as object, contracts)
  else app.decorate(contractsKey, { ...contracts })
}

/** Returns the contract that was published on the instance or the nearest instance around it, or undefined. */
export function contractOf<Name extends keyof Contracts>(app: FastifyInstance, name: Name): Contracts[Name] | undefined {
  for (let instance: object | null = app; instance !== null; instance = Object.getPrototypeOf(instance)) {
    const contract = Object.hasOwn(instance, contractsKey) ? (instance as Required<Wired>)[contractsKey][name] : undefined
    if (contract !== undefined) return contract
  }
  return undefined
}

/** Returns a function that returns a contract which another plugin may publish later: until it is found, each call looks for it. */
export function contractLater<Name extends keyof Contracts>(app: FastifyInstance, name: Name): () => Contracts[Name] | undefined {
  let found: Contracts[Name] | undefined
  return () => (found ??= contractOf(app, name))
}

/** Adds a contribution to the lists of the service, wherever the plugin is registered. */
export function contribute<Name extends keyof Contributions>(app: FastifyInstance, name: Name, contribution: Contributions[Name]): void {
  if (!contributions(app, name).includes(contribution)) (contributions(app, name) as Contributions[Name][]).push(contribution)
}

/** Returns what the plugins of the service have contributed until now, in the order of their registration. The array grows. */
export function contributions<Name extends keyof Contributions>(app: FastifyInstance, name: Name): readonly Contributions[Name][] {
  const wired = app as Wired
  // On the root instance, because a plugin that uses them may be registered beside the others, or in a child.
  if (wired[contributionsKey] === undefined)
    rootOf(app).decorate(contributionsKey, { errors: [], operations: [], rules: [], earlyHeaders: [], gauges: [], retention: [] })
  return (wired as Required<Wired>)[contributionsKey][name]
}

/** Returns whether a route, which is registered on `app`, is an ordinary Fastify route that does not belong to the API. */
export function isOutside(app: FastifyInstance, route: Route): boolean {
  return contractOf(app, 'belongsToApi')?.(app, route) === false
}

/** Returns whether the instance is the root instance, and not a child context. */
export function isRoot(app: FastifyInstance): boolean {
  return rootOf(app) === app
}

/** Returns the root instance of the server. */
export function rootOf(app: FastifyInstance): FastifyInstance {
  const parent = Object.getPrototypeOf(app) as FastifyInstance
  return 'printRoutes' in parent ? rootOf(parent) : app
}
