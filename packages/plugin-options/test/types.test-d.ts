import { test } from 'node:test'
import { type OptionNames, optionChecks, requireKnownNames, requirePluginNames } from '@concordat/plugin-options'
import { type ContractCases, type RunTest, runCases } from '@concordat/plugin-options/testing'
import { expectTypeOf } from 'expect-type'

const { integer, oneOf } = optionChecks('jobs')
expectTypeOf(integer('options.a', 1, 0)).toEqualTypeOf<number>()
expectTypeOf(oneOf('options.a', 'a', ['a', 'b'] as const)).toEqualTypeOf<'a' | 'b'>()

interface Options {
  readonly store?: { readonly find: () => void } | undefined
  readonly limit?: { readonly max: number } | false | undefined
  readonly tiers?: Readonly<Record<string, { readonly max: number }>> | undefined
  readonly versions?: Readonly<Record<number, { readonly at: Date } | { readonly until: Date }>> | undefined
  readonly keys?: readonly ({ readonly secret: string } | { readonly publicKey: string })[] | undefined
  readonly onError?: (() => void) | undefined
}
const options: Options = {}
const max = { max: true } as const
const complete: OptionNames<Options> = {
  store: true,
  limit: max,
  tiers: { '*': max },
  versions: { '*': { at: true, until: true } },
  keys: [{ secret: true, publicKey: true }],
  onError: true
}
requireKnownNames('jobs', options, complete)
requirePluginNames('jobs', options, { ...complete, limit: true, tiers: true, versions: true, keys: true })

// @ts-expect-error a name is missing
requireKnownNames('jobs', options.limit, {})
// @ts-expect-error a name is superfluous
requireKnownNames('jobs', options.limit, { max: true, min: true })
// @ts-expect-error a nested name is missing
requireKnownNames('jobs', options, { ...complete, tiers: { '*': {} } })
// @ts-expect-error a nested name is superfluous
requireKnownNames('jobs', options, { ...complete, keys: [{ secret: true, publicKey: true, privateKey: true }] })
// @ts-expect-error a name of one of the objects in a union is missing
requireKnownNames('jobs', options, { ...complete, versions: { '*': { at: true } } })
// @ts-expect-error a function has no table
requireKnownNames('jobs', options, { ...complete, onError: { max: true } })

expectTypeOf(test).toExtend<RunTest>()
const cases: ContractCases<number> = { 'is a number': (scene) => expectTypeOf(scene).toEqualTypeOf<number>() && undefined }
runCases(test, cases, () => 1)
// @ts-expect-error: another scene
runCases(test, cases, () => 'a')
