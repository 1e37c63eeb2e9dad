import { outageLog, type ReportFailure } from '@concordat/outage-log'
import { expectTypeOf } from 'expect-type'

expectTypeOf(outageLog).returns.toEqualTypeOf<ReportFailure>()
expectTypeOf<ReportFailure>().parameter(1).toEqualTypeOf<string>()
