/** The operators of filters, the same on every collection (rule Q6). A bare `field=value` is `eq`. */
export const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'null', 'prefix'] as const
export type Operator = (typeof operators)[number]

/** What the values of a field are. Decides its operators, how its values are read, and how they compare. */
export type ValueKind = 'string' | 'enum' | 'uuid' | 'integer' | 'decimal' | 'boolean' | 'date' | 'date-time'
