import { test } from 'node:test'
import { type ContractCases, type RunTest, runCases } from '@concordat/contract-testing'
import { expectTypeOf } from 'expect-type'

expectTypeOf(test).toExtend<RunTest>()
const cases: ContractCases<number> = { 'is a number': (scene) => expectTypeOf(scene).toEqualTypeOf<number>() && undefined }
runCases(test, cases, () => 1)
// @ts-expect-error: another scene
runCases(test, cases, () => 'a')
