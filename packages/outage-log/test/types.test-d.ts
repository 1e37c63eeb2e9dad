import type { outageLog } from '@concordat/outage-log'
import { expectTypeOf } from 'expect-type'

expectTypeOf<ReturnType<typeof outageLog>>().parameter(1).toEqualTypeOf<string>()
