import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startService } from '../service.ts'

const remote = { remoteAddress: '203.0.113.9', headers: { host: 'shop.example' } }

t.test('GET /metrics shows requests, keys, jobs, connections and stores, to this machine and to administrators', async (t) => {
  const { app, call, as } = await startService(t)
  const { body } = await call('GET', '/v2/products?perPage=1')
  const items = [{ productId: body.data[0].id, quantity: 1 }]
  const key = { 'idempotency-key': 'the-same' }
  const ada = await as('ada@example.com')
  const first = await ada('POST', '/v2/orders', { items }, key)
  t.equal((await ada('POST', '/v2/orders', { items }, key)).status, first.status)
  t.equal((await ada('POST', '/v2/orders', { items: [{ ...items[0], quantity: 2 }] }, key)).status, 422)
  t.equal((await call('GET', '/v2/orders?after=garbage')).body.error.code, 'CURSOR_INVALID')
  t.equal((await call('POST', '/v2/order-exports', {}, { prefer: 'wait=20' })).status, 202)

  const shown = [
    /^http_server_request_duration_seconds_count\{http_request_method="POST",http_route="\/v2\/orders",url_scheme="http",http_response_status_code="201"\} 2$/m,
    /error_type="IDEMPOTENCY_KEY_REUSED"/,
    /error_type="CURSOR_INVALID"/,
    /^concordat_idempotency_outcomes_total\{outcome="ran"\} 1$/m,
    /^concordat_idempotency_outcomes_total\{outcome="replayed"\} 1$/m,
    /^concordat_idempotency_outcomes_total\{outcome="reused"\} 1$/m,
    /^concordat_transaction_duration_seconds_count\{outcome="committed"\} \d/m,
    /^concordat_store_duration_seconds_count\{store="idempotency",operation="begin"\} \d/m,
    /^concordat_queue_jobs\{queue="job-order-export",state="running"\} 0$/m,
    /^concordat_queue_oldest_age_seconds\{queue="webhook-deliveries"\} 0$/m,
    /^concordat_webhook_paused_receivers 0$/m,
    /^concordat_job_duration_seconds_count\{job_name="order-export",outcome="completed"\} 1$/m,
    /^concordat_health_store_available\{store="database",required="true"\} 1$/m,
    /^concordat_admission_limit \d/m
  ]
  let text = ''
  // The job ends after the response.
  for (; !shown.every((line) => line.test(text)); await delay(20)) {
    text = (await app.inject('/metrics')).body
  }
  for (const line of shown) t.match(text, line)
  t.notMatch(text, new RegExp(`${items[0]?.productId}|the-same|garbage`))

  const { headers } = await app.inject({ method: 'GET', url: '/metrics', ...remote })
  t.equal(headers['content-type'], 'application/json; charset=utf-8', 'over plain HTTP it does not exist for others')
})
