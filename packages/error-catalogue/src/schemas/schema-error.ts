/** A validation error from Ajv. Other validators can omit any of its properties. */
export interface SchemaError {
  readonly keyword?: string | undefined
  readonly instancePath?: string | undefined
  readonly schemaPath?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly parentSchema?: Readonly<Record<string, unknown>> | undefined
  readonly data?: unknown
  readonly message?: string | undefined
}
