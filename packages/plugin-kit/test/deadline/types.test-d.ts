import { waitAtMost, withDeadline } from '@concordat/plugin-kit/deadline'
import { expectTypeOf } from 'expect-type'

const onTimeout = () => new Error('late')
expectTypeOf(withDeadline(Promise.resolve('a'), { ms: 1, onTimeout })).toEqualTypeOf<Promise<string>>()
expectTypeOf(waitAtMost(Promise.resolve('a'), 1)).toEqualTypeOf<Promise<void>>()
