// Rules that only this repository has. The linter loads them, and .oxlintrc.json says for which files.
import type { RuleTester } from 'oxlint/plugins-dev'

type Rule = Parameters<RuleTester['run']>[1]
type Visitor = ReturnType<NonNullable<Rule['create']>>
type Node = Parameters<NonNullable<Visitor['ImportSpecifier']>>[0]['parent']

const calls = new Set('getOwnPropertySymbols listeners printPlugins printRoutes rawListeners removeAllListeners'.split(' '))
const members = new Set(
  'addContentTypeParser addHook close closeAllConnections closeIdleConnections decorate emit end inject listen register requireHostHeader route write writeHead'.split(
    ' '
  )
)
const foreign = /^(?:fastify|nodejs|plugin)\b/
const events = new Set(['clientError', 'close', 'connection', 'error', 'request'])

/**
 * Finds what uses or changes more of Fastify and Node.js than their public API, which an upgrade may break (decision 143). The option has what a file may
 * use, which it must have. Private names after a dot are found by no-underscore-dangle.
 */
const publicApiOnly: Rule = {
  meta: { schema: [{ type: 'array' }] },
  create({ options, report }) {
    const [allowed = []] = options as [string[]?]
    const gone = new Set(allowed)
    const use = (what: string, node: Node) => {
      gone.delete(what)
      if (!allowed.includes(what))
        report({ node, message: `${what} is below the public API. Use a documented interface, or see decision 143.` })
    }
    return {
      CallExpression(node) {
        const { callee, arguments: given, parent } = node
        if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier' || callee.object.type === 'ThisExpression') return
        const { name } = callee.property
        const owner = callee.object.type === 'Identifier' ? callee.object.name : ''
        const [first, second] = given.map((one) => (one.type === 'Literal' && typeof one.value === 'string' ? one.value : ''))
        // Two texts that are compared are not read.
        const isCompared = parent.type === 'BinaryExpression' && parent.left.type === parent.right.type
        if (calls.has(name) && !isCompared) use(`${name}()`, node)
        if (name === 'emit' && first && events.has(first)) use(`emit('${first}')`, node)
        if (owner === 'Symbol' && name === 'for' && first && foreign.test(first)) use(`Symbol.for('${first}')`, node)
        if (owner === 'Reflect' && second?.startsWith('_')) use(`'${second}'`, node)
      },
      AssignmentExpression({ left }) {
        if (left.type !== 'MemberExpression' || left.property.type !== 'Identifier' || left.object.type === 'ThisExpression') return
        if (members.has(left.property.name)) use(`${left.property.name} =`, left)
      },
      'Program:exit'(node) {
        for (const what of gone)
          report({ node, message: `The file no longer has ${what}. Remove it from .oxlintrc.json and decision 143.` })
      }
    }
  }
}

/**
 * Finds a wait for a number of milliseconds that is a literal, which is too short on a busy machine and too long on all others. A wait inside a loop
 * with a condition is the interval of its checks, and a promise with more than a timer is a deadline.
 */
const noFixedWait: Rule = {
  create({ report }) {
    const names = new Set(['delay', 'pause', 'sleep', 'wait'])
    const check = (node: Node, time: Node | undefined) => {
      if (time === undefined || !isFixed(time) || isInLoop(node)) return
      report({ node, message: 'Waits for a fixed time. Wait for the condition, for example with until() of the test harness.' })
    }
    const executor = "NewExpression[callee.name='Promise'] > ArrowFunctionExpression"
    const timer = "CallExpression[callee.name='setTimeout']"
    return {
      'ImportDeclaration[source.value=/^(node:)?timers.promises$/] > ImportSpecifier[imported.name="setTimeout"]'(node) {
        if (node.type === 'ImportSpecifier') names.add(node.local.name)
      },
      CallExpression(node) {
        if (node.callee.type === 'Identifier' && names.has(node.callee.name)) check(node, node.arguments[0])
      },
      [`${executor} > ${timer}, ${executor} > BlockStatement[body.length=1] > ExpressionStatement > ${timer}`](node) {
        if (node.type !== 'CallExpression') return
        let at: Node = node
        while (at.type !== 'NewExpression' && at.parent !== null) at = at.parent
        check(at, node.arguments[1])
      }
    }
  }
}

function isFixed(node: Node): boolean {
  if (node.type === 'BinaryExpression') return isFixed(node.left) && isFixed(node.right)
  return node.type === 'Literal' && typeof node.value === 'number'
}

/** Whether a loop of the same function contains the node. */
function isInLoop({ parent }: Node): boolean {
  if (parent === null || /Function/.test(parent.type)) return false
  return /^(?:DoWhile|For|While)Statement$/.test(parent.type) || isInLoop(parent)
}

const plugin: { readonly meta: { readonly name: string }; readonly rules: Readonly<Record<string, Rule>> } = {
  meta: { name: 'suite' },
  rules: { 'no-fixed-wait': noFixedWait, 'public-api-only': publicApiOnly }
}

export default plugin
