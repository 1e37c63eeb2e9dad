import { RuleTester } from 'oxlint/plugins-dev'
import t from 'tap'
import plugin from '../lint-rules.ts'

RuleTester.describe = (_, run) => run()
RuleTester.it = (title, run) => void t.doesNotThrow(run, title)
const tester = new RuleTester({ languageOptions: { parserOptions: { lang: 'ts' }, sourceType: 'module' } })

const privateUses = {
  "server.removeAllListeners('request')": 'removeAllListeners()',
  'const [serve] = server.listeners(event)': 'listeners()',
  'parse(app.printRoutes())': 'printRoutes()',
  "const isEmpty = app.printRoutes() === '(empty tree)'": 'printRoutes()',
  'Object.getOwnPropertySymbols(app)': 'getOwnPropertySymbols()',
  "request.emit('close')": "emit('close')",
  "plugin[Symbol.for('plugin-meta')]": "Symbol.for('plugin-meta')",
  "Reflect.get(socket, '_handle')": "'_handle'",
  'app.server.close = closeAll': 'close =',
  'reply.raw.writeHead = () => reply.raw': 'writeHead ='
}

tester.run('public-api-only', plugin.rules['public-api-only'] as never, {
  // What is compared is not read, and a class may have methods and events of its own.
  valid: [
    'const isEmpty = app.printRoutes() === app.printRoutes(none)',
    "this.emit('close'); this.end = end; events.emit('revoked'); Symbol.for('concordat.x'); Reflect.get(row, key); const close = stop",
    { code: 'app.server.close = closeAll', options: [['close =']] }
  ],
  invalid: [
    ...Object.entries(privateUses).map(([code, use]) => ({
      code,
      errors: [{ message: `${use} is below the public API. Use a documented interface, or see decision 143.` }]
    })),
    {
      code: 'app.server.close = closeAll',
      options: [['close =', 'emit =']],
      errors: [{ message: 'The file no longer has emit =. Remove it from .oxlintrc.json and decision 143.' }]
    }
  ]
})

const imported = "import { setTimeout as later, setImmediate } from 'node:timers/promises'\n"
tester.run('no-fixed-wait', plugin.rules['no-fixed-wait'] as never, {
  // Between two checks of a condition, for a computed time, and with a deadline.
  valid: [
    'while (!isDone()) await delay(50)',
    'do await delay(50); while (!isDone())',
    'for (;;) { if (isDone()) break; await new Promise((resolve) => setTimeout(resolve, 50)) }',
    'await delay(seed * 20)',
    `${imported}await setImmediate(1)`,
    'await new Promise((resolve) => { const timer = setTimeout(resolve, 50); socket.on("end", () => clearTimeout(timer)) })',
    'await new Promise(executor)',
    'server.get("/", () => void setTimeout(reply, 50))'
  ],
  invalid: [
    `${imported}await later(50)`,
    'await sleep(2 * 1000)',
    'await new Promise((resolve) => setTimeout(resolve, 50))',
    'await new Promise((resolve) => { setTimeout(resolve, 50) })',
    'for (const one of list) await delay(50)',
    'for (;;) add(async () => delay(50))'
  ].map((code) => ({ code, errors: [{ message: /^Waits for a fixed time\. Wait for the condition/ }] }))
})
