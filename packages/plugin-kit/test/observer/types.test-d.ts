import { measureCalls, type Observer } from '@concordat/plugin-kit/observer'
import { expectTypeOf } from 'expect-type'

expectTypeOf(measureCalls(undefined, 'numbers', new Map<string, number>())).toEqualTypeOf<Map<string, number>>()
expectTypeOf<Observer['traceparent']>().returns.toEqualTypeOf<string | undefined>()
