/** The filter operators, the same for every collection (rule Q6). `field=value` without an operator is `eq`. */
export const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'null', 'prefix'] as const
export type Operator = (typeof operators)[number]

/** The kind of the values of a field. It determines the operators of the field, and how its values are parsed and compared. */
export type ValueKind = 'string' | 'enum' | 'uuid' | 'integer' | 'decimal' | 'boolean' | 'date' | 'date-time'
