import { optionChecks } from '@concordat/plugin-options'
import { expectTypeOf } from 'expect-type'

const { integer, oneOf } = optionChecks('jobs')
expectTypeOf(integer('options.a', 1, 0)).toEqualTypeOf<number>()
expectTypeOf(oneOf('options.a', 'a', ['a', 'b'] as const)).toEqualTypeOf<'a' | 'b'>()
