// node --conditions=@concordat/source packages/authentication/bench/remembered.ts [rounds]
// Measures how long the plugin takes to authenticate a cached token, without the rest of the request, by algorithm.
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import { authenticator } from '../src/authenticator.ts'
import { resolveOptions } from '../src/options.ts'

const rounds = Number(process.argv[2] ?? 7)
const runs = 200_000
const issuer = { issuer: 'https://tokens.example.com', audience: 'products' }

const subjects = await Promise.all(
  (['HS256', 'RS256', 'ES256', 'EdDSA'] as const).map(async (algorithm) => {
    const kit = testKit({ ...issuer, algorithm })
    const authenticate = authenticator(
      resolveOptions({
        issuers: [ownTokens({ ...issuer, keys: kit.keys })],
        permissions: ['products:read'],
        revocations: { staleMs: 0, isRevoked: () => false }
      })
    )
    const sent = Buffer.from(kit.headers({ exp: Math.floor(Date.now() / 1000) + 900 })['authorization'])
    // Each request has its own string, as from a parser.
    const requests = Array.from({ length: 1000 }, () => {
      const rawHeaders = ['Host', 'localhost:3000', 'Connection', 'keep-alive', 'authorization', sent.toString('latin1')]
      return { method: 'GET', headers: {}, raw: { rawHeaders } }
    })
    const [first] = requests as [(typeof requests)[number]]
    const principal = await authenticate(first, {})
    if (authenticate(first, {}) !== principal) throw new Error(`The ${algorithm} token is not cached.`)
    return { algorithm, authenticate, requests, microseconds: [] as number[] }
  })
)
for (let round = -2; round < rounds; round += 1) {
  for (const { authenticate, requests, microseconds } of subjects) {
    const start = process.hrtime.bigint()
    for (let run = 0; run < runs; run += 1) void authenticate(requests[run % 1000] as (typeof requests)[number], {})
    if (round >= 0) microseconds.push(Number(process.hrtime.bigint() - start) / runs / 1000)
  }
}
for (const { algorithm, microseconds } of subjects) {
  const sorted = microseconds.toSorted((a, b) => a - b)
  console.log(
    `${algorithm}: ${sorted[sorted.length >> 1]?.toFixed(2)} µs, median of ${rounds} (${sorted[0]?.toFixed(2)}–${sorted.at(-1)?.toFixed(2)})`
  )
}
