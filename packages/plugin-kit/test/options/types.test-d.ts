import { test } from 'node:test'
import { optionChecks } from '@concordat/plugin-kit/options'
import { type ContractCases, type RunTest, runCases } from '@concordat/plugin-kit/testing'
import { expectTypeOf } from 'expect-type'

const { integer, oneOf } = optionChecks('jobs')
expectTypeOf(integer('options.a', 1, 0)).toEqualTypeOf<number>()
expectTypeOf(oneOf('options.a', 'a', ['a', 'b'] as const)).toEqualTypeOf<'a' | 'b'>()

expectTypeOf(test).toExtend<RunTest>()
const cases: ContractCases<number> = { 'is a number': (scene) => expectTypeOf(scene).toEqualTypeOf<number>() && undefined }
runCases(test, cases, () => 1)
// @ts-expect-error: another scene
runCases(test, cases, () => 'a')
