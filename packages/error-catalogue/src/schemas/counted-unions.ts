import { _, type Ajv2019, type CodeKeywordDefinition, type KeywordCxt, type KeywordErrorDefinition, Name, nil } from 'ajv/dist/2019.js'

/** The value that a validator throws when it may try no further branch. */
export const budgetExceeded: Error = new Error('The value has more branches of unions to try than the validator may.')

/**
 * Makes the unions of an Ajv instance count the errors of each of their branches: the error of a union gets `params.branchEnds`, the number of errors
 * before the first branch and after each. Each branch that is tried spends 1 of the budget.
 */
export function countBranches(ajv: Ajv2019, budget: { left: number }): Ajv2019 {
  for (const keyword of ['anyOf', 'oneOf']) {
    const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition & { readonly error: KeywordErrorDefinition }
    const branchEnds = new WeakMap<KeywordCxt, Name>()
    ajv.removeKeyword(keyword)
    ajv.addKeyword({
      ...definition,
      code(context) {
        const { gen } = context
        const spend = gen.scopeValue('func', { ref: spendOne })
        const ends = gen.const('ends', _`[${errorCount}]`)
        branchEnds.set(context, ends)
        context.subschema = (...subschema) => {
          gen.code(_`${spend}()`)
          const inside = Object.getPrototypeOf(context).subschema.apply(context, subschema)
          gen.code(_`${ends}.push(${errorCount})`)
          return inside
        }
        definition.code(context)
      },
      error: {
        ...definition.error,
        params(context) {
          const { passing } = context.params
          return _`{branchEnds: ${branchEnds.get(context as KeywordCxt) ?? nil}, passingSchemas: ${passing ?? null}}`
        }
      }
    })
  }
  return ajv

  function spendOne() {
    budget.left -= 1
    if (budget.left < 0) throw budgetExceeded
  }
}

// The variable of every validator that Ajv generates.
const errorCount = new Name('errors')
