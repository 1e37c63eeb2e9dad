/** A package.json. */
export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

// What a package of the template needs to stay: one of the choices.
const needed: Readonly<Record<string, string>> = {
  '@concordat/authentication': 'auth',
  '@concordat/jobs': 'jobs',
  '@concordat/rate-limiting': 'redis',
  '@concordat/redis': 'redis',
  '@concordat/standard-schema': 'zod',
  '@concordat/token-issuing': 'auth',
  '@concordat/webhooks': 'webhooks',
  '@fastify/jwt': 'auth',
  '@opentelemetry/api': 'metrics',
  '@opentelemetry/exporter-prometheus': 'metrics',
  '@opentelemetry/sdk-metrics': 'metrics',
  '@fastify/type-provider-typebox': 'typebox',
  '@sinclair/typebox': 'typebox',
  'type-provider-typebox-1': 'typebox-1',
  typebox: 'typebox-1',
  ioredis: 'redis',
  pg: 'postgres',
  '@types/pg': 'postgres',
  'pg-boss': 'jobs|webhooks',
  tap: 'tap',
  zod: 'zod'
}

const scripts = {
  start: 'node src/main.ts',
  dev: 'node --watch src/main.ts',
  check: 'tsc',
  lint: 'oxlint',
  // Also for tests on tap: each file is a program, which the runner of Node.js starts. That of tap would compile it with an API that TypeScript 7 lacks.
  test: 'node --test "test/**/*.test.ts"'
}

/** Returns the package.json of a project from that of its example. No script needs a shell. */
export function manifestOf(name: string, { engines, dependencies, devDependencies }: Manifest): Manifest {
  return {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    engines,
    scripts,
    dependencies,
    devDependencies
  }
}

/**
 * Returns the manifest without the packages that were not chosen. PGlite is always there: for tests and development, if not for production. A package
 * that the template has in two versions, of which one has another name there, gets its own name.
 */
export function withChosenPackages(manifest: Manifest, chosen: ReadonlySet<string>): Manifest {
  const isKept = ([name]: [string, string]) => needed[name]?.split('|').some((choice) => chosen.has(choice)) ?? true
  const kept = (packages: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(packages).filter(isKept).map(withOwnName))
  const { '@electric-sql/pglite': pglite, ...others } = kept(manifest.dependencies)
  const isEmbedded = chosen.has('pglite') && pglite !== undefined
  return {
    ...manifest,
    dependencies: sorted({ ...others, ...(isEmbedded && { '@electric-sql/pglite': pglite }) }),
    devDependencies: sorted({
      ...kept(manifest.devDependencies),
      ...(pglite !== undefined && !isEmbedded && { '@electric-sql/pglite': pglite })
    })
  }
}

function withOwnName(entry: [string, string]): [string, string] {
  const [, name, range] = /^npm:(.+)@(.+)$/.exec(entry[1]) ?? []
  return name === undefined || range === undefined ? entry : [name, range]
}

function sorted(packages: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
