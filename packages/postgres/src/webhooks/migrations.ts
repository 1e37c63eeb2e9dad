import { type Migration, migrationsOf } from '../migrations/migration.ts'

/** The migrations that create the tables of `postgresWebhookStore`; pass them to `migrate`. */
export const webhookMigrations: readonly Migration[] = migrationsOf(
  'webhooks',
  [
    // Free space in each page, so that the health of a receiver is updated without a change of an index.
    `CREATE TABLE {schema}.webhook_subscriptions (
        id uuid PRIMARY KEY,
        owner text COLLATE "C" NOT NULL,
        event_types text[] NOT NULL,
        is_enabled boolean NOT NULL,
        record json NOT NULL
      ) WITH (fillfactor = 70)`,
    `CREATE INDEX webhook_subscriptions_owner ON {schema}.webhook_subscriptions (owner, id)`,
    `CREATE INDEX webhook_subscriptions_event_types ON {schema}.webhook_subscriptions USING gin (event_types) WHERE is_enabled`,
    // A removed subscription remains here until the sweep has deleted all of its deliveries.
    `CREATE TABLE {schema}.webhook_removals (
        subscription_id uuid PRIMARY KEY,
        removed_at timestamptz NOT NULL DEFAULT now()
      )`,
    // The bodies are text and never json, so that the signed and sent body equals the emitted one, byte for byte. The number of
    // deliveries that a message still has is counted here: an index on the deliveries would be a quarter of the cost of an attempt.
    `CREATE TABLE {schema}.webhook_messages (
        id text COLLATE "C" PRIMARY KEY,
        type text NOT NULL,
        happened_at double precision NOT NULL,
        versions integer[] NOT NULL,
        bodies text[] NOT NULL,
        deliveries integer NOT NULL
      )`,
    // No foreign keys: a subscription is deleted immediately, however many deliveries it has, and the sweep deletes these in batches.
    `CREATE TABLE {schema}.webhook_deliveries (
        id uuid PRIMARY KEY,
        subscription_id uuid NOT NULL,
        message_id text COLLATE "C" NOT NULL,
        event_type text NOT NULL,
        status text COLLATE "C" NOT NULL,
        attempts integer NOT NULL,
        round_start integer NOT NULL,
        created_at double precision NOT NULL,
        next_attempt_at double precision,
        ended_at double precision
      )`,
    `CREATE INDEX webhook_deliveries_list ON {schema}.webhook_deliveries (subscription_id, status, id)`,
    `CREATE INDEX webhook_deliveries_recovery ON {schema}.webhook_deliveries (subscription_id, created_at, id)
        WHERE status IN ('failed', 'cancelled')`,
    `CREATE TABLE {schema}.webhook_attempts (
        delivery_id uuid NOT NULL,
        id uuid NOT NULL,
        number integer NOT NULL,
        started_at double precision NOT NULL,
        duration_milliseconds double precision NOT NULL,
        status_code integer,
        failure text,
        PRIMARY KEY (delivery_id, id)
      )`
  ],
  // The types are also stored with the audience of the subscription, which is empty for the subscriptions that exist.
  [
    // Without it, new entries are kept in a list that each emission reads as a whole.
    'ALTER INDEX {schema}.webhook_subscriptions_event_types SET (fastupdate = off)',
    `UPDATE {schema}.webhook_subscriptions SET event_types = event_types || ARRAY(SELECT type || ' ' FROM unnest(event_types) AS type)`
  ],
  // Null for the job with the id of the delivery.
  ['ALTER TABLE {schema}.webhook_deliveries ADD COLUMN job_id uuid'],
  // One row for each owner, with the times of the changes that count, and when the last of them no longer does.
  [
    `CREATE TABLE {schema}.webhook_changes (
        owner text COLLATE "C" PRIMARY KEY,
        times double precision[] NOT NULL,
        ends_at double precision NOT NULL
      )`,
    `CREATE INDEX webhook_changes_ends_at ON {schema}.webhook_changes (ends_at)`
  ],
  [
    `CREATE TABLE {schema}.webhook_outages (
        owner text COLLATE "C" NOT NULL,
        origin text COLLATE "C" NOT NULL,
        record json NOT NULL,
        PRIMARY KEY (owner, origin)
      )`
  ],
  [`CREATE INDEX webhook_outages_paused ON {schema}.webhook_outages (owner) WHERE record ->> 'isPaused' = 'true'`],
  [`CREATE INDEX webhook_removals_removed_at ON {schema}.webhook_removals (removed_at)`],
  [
    'ALTER TABLE {schema}.webhook_subscriptions ADD COLUMN tenant text',
    `CREATE INDEX webhook_subscriptions_tenant ON {schema}.webhook_subscriptions (tenant, id) WHERE tenant IS NOT NULL`
  ]
)
