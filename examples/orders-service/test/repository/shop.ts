// Written by npx concordat client from Orders service 2.0.0. Do not change it: write it again.
import type { Api, CallOptions } from '@concordat/client'

/** A request that could change something: who sent it, what it was about, and what happened. */
export interface AuditRecord {
  id: string
  /** When the response was ready. */
  occurredAt: string
  /** The `Request-Id` of the response. */
  requestId: string
  /** The user; absent for anonymous requests, and for clients that act on their own behalf. */
  subject?: string | undefined
  /** The id of the client application, if it is known. */
  client?: string | undefined
  /** The issuer of the credential; absent for anonymous requests. */
  issuer?: string | undefined
  /** The tenant of the request, if it had one. */
  tenant?: string | undefined
  /** The permissions that the route requires. */
  permissions: string[]
  method: string
  /** The template of the path. */
  route: string
  /** The template without the version, the same in all of them. */
  resource?: string | undefined
  version?: string | undefined
  /** The path with its ids in one spelling, without the query. */
  path: string
  /** `committed`: it succeeded. `refused`: it changed nothing. `failed`: without a transaction, a part of it may remain. */
  outcome: 'committed' | 'refused' | 'failed'
  status: number
  /** The code of the error, if the response was one. */
  errorCode?: string | undefined
  /** How many more requests of this client to this route were refused with this error within a minute. They have no records of their own. */
  repetitions?: number | undefined
}

/** A group of products. Every product is in one category. */
export interface Category {
  id: string
  name: string
  description?: string | undefined
}

/** A company that orders products, and the person to contact there. */
export interface Customer {
  id: string
  companyName: string
  contactName: string
  /** Where to reach the contact. Several customers may have the same address. */
  email: string
  country: string
  createdAt: string
}

export interface CustomerChanges {
  companyName?: string | undefined
  contactName?: string | undefined
  /** Where to reach the contact. Several customers may have the same address. */
  email?: string | undefined
  country?: string | undefined
}

/** A link to a resource or an action. */
export interface Link {
  /** The link relation type (RFC 8288). */
  rel: string
  /** The absolute URL of the target. */
  href: string
  /** The method to use on the target. */
  method: string
}

/** A URL to which the service sends events of some types. */
export interface ManagedWebhookSubscription {
  id: string
  url: string
  eventTypes: string[]
  description?: string | undefined
  /** The API version that determines the format of the events: the version in which the subscription was created. */
  version: number
  /** Deliveries are sent one after the other, in the order of the events. */
  ordered: boolean
  signature: 'hmac-sha256' | 'ed25519'
  status: 'enabled' | 'disabled'
  disabledReason?:
    | 'byOwner'
    | 'accessRevoked'
    | 'unverified'
    | 'gone'
    | 'failing'
    | 'orderBroken'
    | 'byAdministrator'
    | undefined
  /** The time of the first failed attempt since the last successful attempt. */
  failingSince?: string | undefined
  /** The public key that verifies Ed25519 signatures. */
  publicKey?: string | undefined
  createdAt: string
  updatedAt: string
  /** Whose subscription it is. */
  owner: string
  /** The tenant whose events it gets, if it has one. */
  tenant?: string | undefined
}

export interface ManagedWebhookSubscriptionChanges {
  status: 'enabled' | 'disabled'
}

export interface NewCustomer {
  companyName: string
  contactName: string
  /** Where to reach the contact. Several customers may have the same address. */
  email: string
  country: string
}

export interface NewOrder {
  /** Required for staff. Customers order for themselves. */
  customerId?: string | undefined
  items: {
    productId: string
    quantity: number
  }[]
  note?: string | undefined
}

export interface NewOrderBatch {
  operations: {
    /** Unique in the batch. The outcome of the operation has the same id. */
    id: string
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    /** The path and query. The path must be one of these or below one of them: /v2/orders. */
    path: string
    /** Any of: accept, content-type, if-match, if-none-match, if-modified-since, if-unmodified-since, idempotency-key, prefer. All other headers come from this request. */
    headers?: { [name: string]: string } | undefined
    /** Any JSON value that the route accepts. Not allowed with GET and DELETE. */
    body?: unknown
  }[]
  /** All operations take effect, or none: if one fails, the others have status 424 and nothing is stored. */
  atomic?: boolean | undefined
}

export interface NewOrderCancellation {
  reason?: string | undefined
}

export interface NewOrderExport {
  status?: {
    eq?: 'pending' | 'paid' | 'shipped' | 'cancelled' | undefined
    ne?: 'pending' | 'paid' | 'shipped' | 'cancelled' | undefined
    in?: ('pending' | 'paid' | 'shipped' | 'cancelled')[] | undefined
  } | undefined
  customerId?: {
    eq?: string | undefined
  } | undefined
  placedAt?: {
    gt?: string | undefined
    gte?: string | undefined
    lt?: string | undefined
    lte?: string | undefined
  } | undefined
  total?: {
    eq?: string | undefined
    gt?: string | undefined
    gte?: string | undefined
    lt?: string | undefined
    lte?: string | undefined
  } | undefined
}

export interface NewOrderItem {
  productId: string
  quantity: number
}

export interface NewProduct {
  name: string
  description?: string | undefined
  categoryId: string
  unitPrice: string
  currency?: string | undefined
  unitsInStock?: number | undefined
  discontinued?: boolean | undefined
}

export interface NewToken {
  username?: string | undefined
  password?: string | undefined
  refreshToken?: string | undefined
}

export interface NewTokenRevocation {
  token: string
}

export interface NewWebhookSubscription {
  /** An https URL with a public host name. */
  url: string
  /** Any of `order.created`, `order.updated`, `order.cancelled`, `product.updated`, `webhook.subscription.disabled`. */
  eventTypes: string[]
  description?: string | undefined
  ordered?: boolean | undefined
  signature?: 'hmac-sha256' | 'ed25519' | undefined
}

export interface NewWebhookSubscriptionRecovery {
  since: string
  until?: string | undefined
}

/** An order of a customer. Its total is fixed when it is placed. */
export interface Order {
  id: string
  customerId: string
  status: 'pending' | 'paid' | 'shipped' | 'cancelled'
  placedAt: string
  total: {
    amount: string
    currency: string
  }
  shippedAt?: string | undefined
  note?: string | undefined
}

export interface OrderBatch {
  /** Unique in the batch. The outcome of the operation has the same id. */
  id: string
  /** Status code that the operation would have as a separate request. */
  status: number
  headers?: { [name: string]: string } | undefined
  /** Body that the response to a separate request would have, or an error of the batch. Omitted if it is not JSON or too large. */
  body?: unknown
}

export interface OrderCancellation {
  orderId: string
  cancelledAt: string
  reason?: string | undefined
}

export interface OrderCancelledEvent {
  type: 'order.cancelled'
  timestamp: string
  /** An order of a customer. Its total is fixed when it is placed. */
  data: Order
}

export interface OrderChanges {
  status?: 'pending' | 'paid' | 'shipped' | 'cancelled' | undefined
  /** `null` removes it. */
  note?: string | null | undefined
}

export interface OrderCreatedEvent {
  type: 'order.created'
  timestamp: string
  /** An order of a customer. Its total is fixed when it is placed. */
  data: Order
}

/** A job: work that continues after the response. Its links lead to its status and, when it is completed, to its result. */
export interface OrderExport {
  jobId: string
  status: 'queued' | 'processing' | 'completed' | 'failed' | 'cancelled'
  progress?: number | undefined
  error?: {
    code: string
    message: string
  } | undefined
  _links: Link[]
}

/** An order of a customer. Its total is fixed when it is placed. */
export interface OrderExportFile {
  id: string
  customerId: string
  status: 'pending' | 'paid' | 'shipped' | 'cancelled'
  placedAt: string
  total: {
    amount: string
    currency: string
  }
  shippedAt?: string | undefined
  note?: string | undefined
}

export interface OrderExportSummary {
  jobId: string
  status: 'queued' | 'processing' | 'completed' | 'failed' | 'cancelled'
  createdAt: string
  _links: Link[]
}

export interface OrderItem {
  id: string
  productId: string
  quantity: number
  unitPrice: string
}

export interface OrderItemChanges {
  quantity?: number | undefined
}

/** The orders that were placed on a day, whatever became of them later. It is written in the following night. */
export interface OrderSummary {
  /** The day in Europe/Madrid on which the orders were placed. */
  day: string
  orders: number
  /** The sum of the totals in each currency. */
  totals: {
    amount: string
    currency: string
  }[]
  createdAt: string
}

export interface OrderUpdatedEvent {
  type: 'order.updated'
  timestamp: string
  /** An order of a customer. Its total is fixed when it is placed. */
  data: Order
}

/** A product that the shop sells, with its price and the stock. */
export interface Product {
  id: string
  name: string
  description?: string | undefined
  categoryId: string
  unitPrice: string
  currency: string
  unitsInStock: number
  discontinued: boolean
  createdAt: string
  updatedAt: string
}

export interface ProductChanges {
  name?: string | undefined
  /** `null` removes it. */
  description?: string | null | undefined
  categoryId?: string | undefined
  unitPrice?: string | undefined
  currency?: string | undefined
  unitsInStock?: number | undefined
  discontinued?: boolean | undefined
}

export interface ProductImage {
  id: string
  productId: string
  mediaType: 'image/png' | 'image/jpeg'
  width: number
  height: number
  sizeBytes: number
  createdAt: string
}

/** A job: work that continues after the response. Its links lead to its status and, when it is completed, to its result. */
export interface ProductImport {
  jobId: string
  status: 'queued' | 'processing' | 'completed' | 'failed' | 'cancelled'
  progress?: number | undefined
  error?: {
    code: string
    message: string
  } | undefined
  _links: Link[]
}

/** How many lines of a file were stored, and which were refused. */
export interface ProductImportResult {
  dryRun: boolean
  created: number
  changed: number
  /** The lines that equal their product. */
  unchanged: number
  refused: number
  /** The first refusals, in the language of the request. */
  refusals: {
    /** The number of the line. The header is line 1. */
    line: number
    field?: 'name' | 'categoryId' | 'unitPrice' | 'currency' | 'unitsInStock' | undefined
    reason: string
  }[]
}

export interface ProductImportSummary {
  jobId: string
  status: 'queued' | 'processing' | 'completed' | 'failed' | 'cancelled'
  createdAt: string
  _links: Link[]
}

export interface ProductReplacement {
  name: string
  description?: string | undefined
  categoryId: string
  unitPrice: string
  currency: string
  unitsInStock: number
  discontinued: boolean
  id?: string | undefined
  createdAt?: string | undefined
  updatedAt?: string | undefined
}

export interface ProductUpdatedEvent {
  type: 'product.updated'
  timestamp: string
  /** A product that the shop sells, with its price and the stock. */
  data: Product
}

/** An access token, and a refresh token with which the client gets the next one. */
export interface Token {
  accessToken: string
  tokenType: 'Bearer'
  /** Seconds until the access token expires */
  expiresIn: number
  refreshToken: string
}

/** The end of a session: its access and refresh tokens are no longer accepted. */
export interface TokenRevocation {
  revokedAt: string
}

/** A user who can sign in. */
export interface User {
  id: string
  role: 'customer' | 'staff' | 'administrator'
}

export interface UserChanges {
  role?: 'customer' | 'staff' | 'administrator' | undefined
}

/** A client application and a version that it uses. Its requests are counted by day. */
export interface VersionClient {
  id: string
  version: string
  /** The id of the client application; null for all requests without a known one. */
  client: string | null
  /** The requests on all days that are retained. */
  requests: number
  lastUsedAt: string
  days: {
    day: string
    requests: number
  }[]
}

export interface WebhookAttempt {
  id: string
  number: number
  startedAt: string
  durationMilliseconds: number
  /** The status code of the response. */
  statusCode?: number | undefined
  /** The reason why there was no response. */
  failure?:
    | 'URL_REFUSED'
    | 'NO_PUBLIC_ADDRESS'
    | 'CONNECTION_FAILED'
    | 'TLS_FAILED'
    | 'TIMEOUT'
    | 'RESPONSE_INVALID'
    | undefined
}

export interface WebhookDelivery {
  id: string
  /** The value of the `webhook-id` header, which is the same for every attempt. */
  messageId: string
  eventType: string
  status: 'pending' | 'delivered' | 'failed' | 'cancelled'
  attempts: number
  createdAt: string
  nextAttemptAt?: string | undefined
  endedAt?: string | undefined
}

export interface WebhookPingEvent {
  type: 'webhook.ping'
  timestamp: string
  data: WebhookPingEventData
}

export interface WebhookPingEventData {
  subscriptionId: string
}

/** A URL to which the service sends events of some types. */
export interface WebhookSubscription {
  id: string
  url: string
  eventTypes: string[]
  description?: string | undefined
  /** The API version that determines the format of the events: the version in which the subscription was created. */
  version: number
  /** Deliveries are sent one after the other, in the order of the events. */
  ordered: boolean
  signature: 'hmac-sha256' | 'ed25519'
  status: 'enabled' | 'disabled'
  disabledReason?: 'byOwner' | 'accessRevoked' | 'unverified' | 'gone' | 'failing' | 'orderBroken' | undefined
  /** The time of the first failed attempt since the last successful attempt. */
  failingSince?: string | undefined
  /** The public key that verifies Ed25519 signatures. */
  publicKey?: string | undefined
  createdAt: string
  updatedAt: string
}

export interface WebhookSubscriptionChanges {
  /** An https URL with a public host name. */
  url?: string | undefined
  /** Any of `order.created`, `order.updated`, `order.cancelled`, `product.updated`, `webhook.subscription.disabled`. */
  eventTypes?: string[] | undefined
  /** `null` removes it. */
  description?: string | null | undefined
  status?: 'enabled' | 'disabled' | undefined
}

export interface WebhookSubscriptionDisabledEvent {
  type: 'webhook.subscription.disabled'
  timestamp: string
  data: WebhookSubscriptionDisabledEventData
}

export interface WebhookSubscriptionDisabledEventData {
  subscriptionId: string
  reason: 'gone' | 'failing' | 'unverified' | 'orderBroken'
}

export interface WebhookSubscriptionPing {
  /** The value of the `webhook-id` header of the ping. */
  messageId: string
}

export interface WebhookSubscriptionRecovery {
  since: string
  until?: string | undefined
}

export interface WebhookSubscriptionSecret {
  /** The new secret. It is shown only once: a replay of the response does not have it. */
  secret?: string | undefined
  publicKey?: string | undefined
  oldKeysEndAt?: string | undefined
}

/** A URL to which the service sends events of some types. */
export interface WebhookSubscriptionWithSecret {
  id: string
  url: string
  eventTypes: string[]
  description?: string | undefined
  /** The API version that determines the format of the events: the version in which the subscription was created. */
  version: number
  /** Deliveries are sent one after the other, in the order of the events. */
  ordered: boolean
  signature: 'hmac-sha256' | 'ed25519'
  status: 'enabled' | 'disabled'
  disabledReason?: 'byOwner' | 'accessRevoked' | 'unverified' | 'gone' | 'failing' | 'orderBroken' | undefined
  /** The time of the first failed attempt since the last successful attempt. */
  failingSince?: string | undefined
  /** The public key that verifies Ed25519 signatures. */
  publicKey?: string | undefined
  createdAt: string
  updatedAt: string
  /** The secret that verifies HMAC signatures. It is shown only once: a replay of the response does not have it. */
  secret?: string | undefined
}

export type GeneralCodes1 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'CURSOR_EXPIRED'
  | 'CURSOR_INVALID'
  | 'CURSOR_MISMATCH'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'URI_TOO_LONG'

export type GeneralCodes2 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'URI_TOO_LONG'

export type GeneralCodes3 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'URI_TOO_LONG'

export type GeneralCodes4 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'URI_TOO_LONG'

export type GeneralCodes5 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'URI_TOO_LONG'

export type GeneralCodes6 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'JOB_EXPIRED'
  | 'JOB_NOT_FOUND'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'URI_TOO_LONG'

export type GeneralCodes7 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'JOB_EXPIRED'
  | 'JOB_HAS_NO_RESULT'
  | 'JOB_NOT_FOUND'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'URI_TOO_LONG'

export type GeneralCodes8 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'CURSOR_EXPIRED'
  | 'CURSOR_INVALID'
  | 'CURSOR_MISMATCH'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'URI_TOO_LONG'

export type GeneralCodes9 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'INVALID_UTF8'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes10 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'BATCH_INVALID'
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REQUIRED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'INVALID_UTF8'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes11 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'INVALID_UTF8'
  | 'JOB_INPUT_INVALID'
  | 'JOB_LIMIT_EXCEEDED'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes12 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REQUIRED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'INVALID_UTF8'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes13 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REQUIRED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'INVALID_UTF8'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes14 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'INVALID_UTF8'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes15 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REQUIRED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'INVALID_UTF8'
  | 'JOB_INPUT_INVALID'
  | 'JOB_LIMIT_EXCEEDED'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_MULTIPART'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes16 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'

export type GeneralCodes17 =
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INTERNAL_ERROR'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_UTF8'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes18 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'URI_TOO_LONG'

export type GeneralCodes19 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'INVALID_UTF8'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PARTIAL_PUT_NOT_SUPPORTED'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes20 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'INVALID_UTF8'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'PRECONDITION_REQUIRED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes21 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CONTENT_LENGTH_MISMATCH'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'EMPTY_BODY'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_OUTCOME_UNKNOWN'
  | 'IDEMPOTENCY_RESPONSE_TOO_LARGE'
  | 'IDEMPOTENCY_RESPONSE_UNAVAILABLE'
  | 'IDEMPOTENCY_STORAGE_EXCEEDED'
  | 'IDEMPOTENCY_STORE_UNAVAILABLE'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'INVALID_UTF8'
  | 'JSON_TOO_DEEP'
  | 'MALFORMED_JSON'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'PRECONDITION_FAILED'
  | 'PRECONDITION_REQUIRED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'UNSUPPORTED_CHARSET'
  | 'UNSUPPORTED_CONTENT_ENCODING'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG'
  | 'VALIDATION_FAILED'

export type GeneralCodes22 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'PRECONDITION_REQUIRED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'URI_TOO_LONG'

export type GeneralCodes23 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'JOB_ALREADY_OVER'
  | 'JOB_EXPIRED'
  | 'JOB_NOT_FOUND'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'URI_TOO_LONG'

export type GeneralCodes24 =
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_UNAVAILABLE'
  | 'CREDENTIALS_IN_URI'
  | 'CROSS_SITE_REQUEST'
  | 'DUPLICATE_HEADER'
  | 'HANDLER_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'HTTPS_REQUIRED'
  | 'INSUFFICIENT_PERMISSION'
  | 'INTERNAL_ERROR'
  | 'INVALID_API_KEY'
  | 'INVALID_AUTHORIZATION'
  | 'INVALID_HOST'
  | 'INVALID_QUERY_PARAMETERS'
  | 'INVALID_TOKEN'
  | 'MALFORMED_REQUEST'
  | 'MALFORMED_URI'
  | 'MISDIRECTED_REQUEST'
  | 'MISSING_HOST'
  | 'NOT_ACCEPTABLE'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RATE_LIMIT_UNAVAILABLE'
  | 'REQUEST_TIMEOUT'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVICE_OVERLOADED'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_REVOKED'
  | 'TRANSACTION_CONFLICT'
  | 'TRANSACTION_UNAVAILABLE'
  | 'URI_TOO_LONG'

export interface GetOperations {
  /** List audit records */
  '/v2/audit-records': {
    args: [
      input?: {
        query?: {
          /** subject equal to */
          subject?: string | undefined
          /** client equal to */
          client?: string | undefined
          /** route equal to */
          route?: string | undefined
          /** path equal to */
          path?: string | undefined
          /** path beginning with */
          'path[prefix]'?: string | undefined
          /** outcome equal to */
          outcome?: 'committed' | 'refused' | 'failed' | undefined
          /** occurredAt greater than or equal to */
          'occurredAt[gte]'?: string | undefined
          /** occurredAt less than */
          'occurredAt[lt]'?: string | undefined
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'occurredAt' | '-occurredAt' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'occurredAt'
            | 'requestId'
            | 'subject'
            | 'client'
            | 'issuer'
            | 'tenant'
            | 'permissions'
            | 'method'
            | 'route'
            | 'resource'
            | 'version'
            | 'path'
            | 'outcome'
            | 'status'
            | 'errorCode'
            | 'repetitions')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The opaque cursor from a link. */
          after?: string | undefined
        } | undefined
      } & CallOptions
    ]
    data: AuditRecord[]
    always: 'id'
    own: never
    code: GeneralCodes1
  }
  /** List categories */
  '/v2/categories': {
    args: [
      input?: {
        query?: {
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'name' | '-name' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'name' | 'description')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The page number. */
          page?: number | undefined
        } | undefined
      } & CallOptions
    ]
    data: Category[]
    always: 'id'
    own: never
    code: GeneralCodes2
  }
  /** Get a category */
  '/v2/categories/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'name' | 'description')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: Category
    always: 'id'
    own: never
    code: GeneralCodes3
  }
  /** List customers */
  '/v2/customers': {
    args: [
      input?: {
        query?: {
          /** country equal to */
          country?: string | undefined
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?:
            | 'companyName'
            | '-companyName'
            | 'createdAt'
            | '-createdAt'
            | 'companyName,createdAt'
            | 'companyName,-createdAt'
            | '-companyName,createdAt'
            | '-companyName,-createdAt' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'companyName' | 'contactName' | 'email' | 'country' | 'createdAt')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The page number. */
          page?: number | undefined
        } | undefined
      } & CallOptions
    ]
    data: Customer[]
    always: 'id'
    own: never
    code: GeneralCodes4
  }
  /** Get a customer */
  '/v2/customers/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'companyName' | 'contactName' | 'email' | 'country' | 'createdAt')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: Customer
    always: 'id'
    own: never
    code: GeneralCodes5
  }
  /** List managed webhook subscriptions */
  '/v2/managed-webhook-subscriptions': {
    args: [
      input?: {
        query?: {
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'id' | '-id' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'url'
            | 'eventTypes'
            | 'description'
            | 'version'
            | 'ordered'
            | 'signature'
            | 'status'
            | 'disabledReason'
            | 'failingSince'
            | 'publicKey'
            | 'createdAt'
            | 'updatedAt'
            | 'owner'
            | 'tenant')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The opaque cursor from a link. */
          after?: string | undefined
        } | undefined
      } & CallOptions
    ]
    data: ManagedWebhookSubscription[]
    always: 'id'
    own: never
    code: GeneralCodes1
  }
  /** Get a managed webhook subscription */
  '/v2/managed-webhook-subscriptions/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'url'
            | 'eventTypes'
            | 'description'
            | 'version'
            | 'ordered'
            | 'signature'
            | 'status'
            | 'disabledReason'
            | 'failingSince'
            | 'publicKey'
            | 'createdAt'
            | 'updatedAt'
            | 'owner'
            | 'tenant')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: ManagedWebhookSubscription
    always: 'id'
    own: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code: GeneralCodes5 | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
  /** List order exports */
  '/v2/order-exports': {
    args: [
      input?: {
        query?: {
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'createdAt' | '-createdAt' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('jobId' | 'status' | 'createdAt' | '_links')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The page number. */
          page?: number | undefined
        } | undefined
      } & CallOptions
    ]
    data: OrderExportSummary[]
    always: 'jobId'
    own: never
    code: GeneralCodes4
  }
  /** Get an order export */
  '/v2/order-exports/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The fields to return; the identifier is always included. */
          fields?: ('jobId' | 'status' | 'progress' | 'error' | '_links')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: OrderExport
    always: 'jobId'
    own: never
    code: GeneralCodes6
  }
  /** Get the file of an order export */
  '/v2/order-exports/{id}/files/{fileId}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
          /** The path parameter fileId. */
          fileId: string
        }
      } & CallOptions
    ]
    data: OrderExportFile[]
    own: never
    code: GeneralCodes7
  }
  /** List order summaries */
  '/v2/order-summaries': {
    args: [
      input?: {
        query?: {
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'day' | '-day' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('day' | 'orders' | 'totals' | 'createdAt')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The page number. */
          page?: number | undefined
        } | undefined
      } & CallOptions
    ]
    data: OrderSummary[]
    always: 'day'
    own: never
    code: GeneralCodes4
  }
  /** List orders */
  '/v2/orders': {
    args: [
      input?: {
        query?: {
          /** status equal to */
          status?: 'pending' | 'paid' | 'shipped' | 'cancelled' | undefined
          /** status not equal to the value, or null */
          'status[ne]'?: 'pending' | 'paid' | 'shipped' | 'cancelled' | undefined
          /** status one of; a comma within a value is written \, */
          'status[in]'?: ('pending' | 'paid' | 'shipped' | 'cancelled')[] | undefined
          /** customerId equal to */
          customerId?: string | undefined
          /** placedAt greater than */
          'placedAt[gt]'?: string | undefined
          /** placedAt greater than or equal to */
          'placedAt[gte]'?: string | undefined
          /** placedAt less than */
          'placedAt[lt]'?: string | undefined
          /** placedAt less than or equal to */
          'placedAt[lte]'?: string | undefined
          /** total equal to */
          total?: string | undefined
          /** total greater than */
          'total[gt]'?: string | undefined
          /** total greater than or equal to */
          'total[gte]'?: string | undefined
          /** total less than */
          'total[lt]'?: string | undefined
          /** total less than or equal to */
          'total[lte]'?: string | undefined
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?:
            | 'placedAt'
            | '-placedAt'
            | 'total'
            | '-total'
            | 'total,placedAt'
            | 'total,-placedAt'
            | '-total,placedAt'
            | '-total,-placedAt' | undefined
          /** The related resources to embed. One that the client may not see is null, as if it did not exist. */
          include?: 'customer'[] | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'customerId'
            | 'status'
            | 'placedAt'
            | 'total'
            | 'shippedAt'
            | 'note'
            | 'customer.id'
            | 'customer.companyName'
            | 'customer.contactName'
            | 'customer.email'
            | 'customer.country'
            | 'customer.createdAt')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The opaque cursor from a link. */
          after?: string | undefined
        } | undefined
      } & CallOptions
    ]
    data: (Order & {
      /** Null if there is none, or none that the client may see. */
      customer?:
        | {
        id: string
        companyName?: string | undefined
        contactName?: string | undefined
        /** Where to reach the contact. Several customers may have the same address. */
        email?: string | undefined
        country?: string | undefined
        createdAt?: string | undefined
      }
        | null
        | undefined
    })[]
    always: 'id' | 'customer'
    own: never
    code: GeneralCodes1
  }
  /** Get an order */
  '/v2/orders/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The related resources to embed. One that the client may not see is null, as if it did not exist. */
          include?: 'customer'[] | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'customerId'
            | 'status'
            | 'placedAt'
            | 'total'
            | 'shippedAt'
            | 'note'
            | 'customer.id'
            | 'customer.companyName'
            | 'customer.contactName'
            | 'customer.email'
            | 'customer.country'
            | 'customer.createdAt')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: Order & {
      /** Null if there is none, or none that the client may see. */
      customer?:
        | {
        id: string
        companyName?: string | undefined
        contactName?: string | undefined
        /** Where to reach the contact. Several customers may have the same address. */
        email?: string | undefined
        country?: string | undefined
        createdAt?: string | undefined
      }
        | null
        | undefined
    }
    always: 'id' | 'customer'
    own: never
    code: GeneralCodes5
  }
  /** List order items */
  '/v2/orders/{id}/items': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'id' | '-id' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'productId' | 'quantity' | 'unitPrice')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The page number. */
          page?: number | undefined
        } | undefined
      } & CallOptions
    ]
    data: OrderItem[]
    always: 'id'
    own: never
    code: GeneralCodes5
  }
  /** Get an order item */
  '/v2/orders/{id}/items/{itemId}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
          /** The path parameter itemId. */
          itemId: string
        }
        query?: {
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'productId' | 'quantity' | 'unitPrice')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: OrderItem
    always: 'id'
    own: never
    code: GeneralCodes5
  }
  /** List product imports */
  '/v2/product-imports': {
    args: [
      input?: {
        query?: {
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'createdAt' | '-createdAt' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('jobId' | 'status' | 'createdAt' | '_links')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The page number. */
          page?: number | undefined
        } | undefined
      } & CallOptions
    ]
    data: ProductImportSummary[]
    always: 'jobId'
    own: never
    code: GeneralCodes4
  }
  /** Get a product import */
  '/v2/product-imports/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The fields to return; the identifier is always included. */
          fields?: ('jobId' | 'status' | 'progress' | 'error' | '_links')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: ProductImport
    always: 'jobId'
    own: never
    code: GeneralCodes6
  }
  /** Get what an import has stored so far */
  '/v2/product-imports/{id}/result': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
      } & CallOptions
    ]
    data: ProductImportResult
    own: never
    code: GeneralCodes7
  }
  /** List products */
  '/v2/products': {
    args: [
      input?: {
        query?: {
          /** categoryId equal to */
          categoryId?: string | undefined
          /** categoryId one of; a comma within a value is written \, */
          'categoryId[in]'?: string[] | undefined
          /** unitPrice equal to */
          unitPrice?: string | undefined
          /** unitPrice greater than or equal to */
          'unitPrice[gte]'?: string | undefined
          /** unitPrice greater than */
          'unitPrice[gt]'?: string | undefined
          /** unitPrice less than */
          'unitPrice[lt]'?: string | undefined
          /** unitPrice less than or equal to */
          'unitPrice[lte]'?: string | undefined
          /** discontinued equal to */
          discontinued?: boolean | undefined
          /** name equal to */
          name?: string | undefined
          /** name not equal to the value, or null */
          'name[ne]'?: string | undefined
          /** name beginning with */
          'name[prefix]'?: string | undefined
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?:
            | 'name'
            | '-name'
            | 'unitPrice'
            | '-unitPrice'
            | 'createdAt'
            | '-createdAt'
            | 'unitPrice,name'
            | 'unitPrice,-name'
            | '-unitPrice,name'
            | '-unitPrice,-name' | undefined
          /** The related resources to embed. One that the client may not see is null, as if it did not exist. */
          include?: 'category'[] | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'name'
            | 'description'
            | 'categoryId'
            | 'unitPrice'
            | 'currency'
            | 'unitsInStock'
            | 'discontinued'
            | 'createdAt'
            | 'updatedAt'
            | 'category.id'
            | 'category.name'
            | 'category.description')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The page number. */
          page?: number | undefined
        } | undefined
      } & CallOptions
    ]
    data: (Product & {
      /** Null if there is none, or none that the client may see. */
      category?:
        | {
        id: string
        name?: string | undefined
        description?: string | undefined
      }
        | null
        | undefined
    })[]
    always: 'id' | 'category'
    own: never
    code: GeneralCodes2
  }
  /** Get a product */
  '/v2/products/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The related resources to embed. One that the client may not see is null, as if it did not exist. */
          include?: 'category'[] | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'name'
            | 'description'
            | 'categoryId'
            | 'unitPrice'
            | 'currency'
            | 'unitsInStock'
            | 'discontinued'
            | 'createdAt'
            | 'updatedAt'
            | 'category.id'
            | 'category.name'
            | 'category.description')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: Product & {
      /** Null if there is none, or none that the client may see. */
      category?:
        | {
        id: string
        name?: string | undefined
        description?: string | undefined
      }
        | null
        | undefined
    }
    always: 'id' | 'category'
    own: never
    code: GeneralCodes3
  }
  /** List product images */
  '/v2/products/{id}/images': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'createdAt' | '-createdAt' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'productId' | 'mediaType' | 'width' | 'height' | 'sizeBytes' | 'createdAt')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The page number. */
          page?: number | undefined
        } | undefined
      } & CallOptions
    ]
    data: ProductImage[]
    always: 'id'
    own: never
    code: GeneralCodes3
  }
  /** Get a product image */
  '/v2/products/{id}/images/{imageId}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
          /** The path parameter imageId. */
          imageId: string
        }
        query?: {
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'productId' | 'mediaType' | 'width' | 'height' | 'sizeBytes' | 'createdAt')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: ProductImage
    always: 'id'
    own: never
    code: GeneralCodes3
  }
  /** Get a user */
  '/v2/users/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'role')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: User
    always: 'id'
    own: never
    code: GeneralCodes5
  }
  /** List version clients */
  '/v2/version-clients': {
    args: [
      input?: {
        query?: {
          /** version equal to */
          version?: string | undefined
          /** lastUsedAt greater than or equal to */
          'lastUsedAt[gte]'?: string | undefined
          /** lastUsedAt less than */
          'lastUsedAt[lt]'?: string | undefined
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'lastUsedAt' | '-lastUsedAt' | 'requests' | '-requests' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'version' | 'client' | 'requests' | 'lastUsedAt' | 'days')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The page number. */
          page?: number | undefined
        } | undefined
      } & CallOptions
    ]
    data: VersionClient[]
    always: 'id'
    own: never
    code: GeneralCodes4
  }
  /** List webhook subscriptions */
  '/v2/webhook-subscriptions': {
    args: [
      input?: {
        query?: {
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'id' | '-id' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'url'
            | 'eventTypes'
            | 'description'
            | 'version'
            | 'ordered'
            | 'signature'
            | 'status'
            | 'disabledReason'
            | 'failingSince'
            | 'publicKey'
            | 'createdAt'
            | 'updatedAt')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The opaque cursor from a link. */
          after?: string | undefined
        } | undefined
      } & CallOptions
    ]
    data: WebhookSubscription[]
    always: 'id'
    own: never
    code: GeneralCodes1
  }
  /** Get a webhook subscription */
  '/v2/webhook-subscriptions/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'url'
            | 'eventTypes'
            | 'description'
            | 'version'
            | 'ordered'
            | 'signature'
            | 'status'
            | 'disabledReason'
            | 'failingSince'
            | 'publicKey'
            | 'createdAt'
            | 'updatedAt')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: WebhookSubscription
    always: 'id'
    own: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code: GeneralCodes5 | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
  /** List webhook subscription deliveries */
  '/v2/webhook-subscriptions/{id}/deliveries': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        query?: {
          /** status equal to */
          status?: 'pending' | 'delivered' | 'failed' | 'cancelled' | undefined
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'id' | '-id' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'messageId'
            | 'eventType'
            | 'status'
            | 'attempts'
            | 'createdAt'
            | 'nextAttemptAt'
            | 'endedAt')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The opaque cursor from a link. */
          after?: string | undefined
        } | undefined
      } & CallOptions
    ]
    data: WebhookDelivery[]
    always: 'id'
    own: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code: GeneralCodes8 | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
  /** Get a webhook subscription delivery */
  '/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
          /** The path parameter deliveryId. */
          deliveryId: string
        }
        query?: {
          /** The fields to return; the identifier is always included. */
          fields?: ('id'
            | 'messageId'
            | 'eventType'
            | 'status'
            | 'attempts'
            | 'createdAt'
            | 'nextAttemptAt'
            | 'endedAt')[] | undefined
        } | undefined
      } & CallOptions
    ]
    data: WebhookDelivery
    always: 'id'
    own: 'WEBHOOK_DELIVERY_NOT_FOUND' | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code: GeneralCodes5 | 'WEBHOOK_DELIVERY_NOT_FOUND' | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
  /** List webhook subscription delivery attempts */
  '/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}/attempts': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
          /** The path parameter deliveryId. */
          deliveryId: string
        }
        query?: {
          /** The sort order. A `-` before a field means descending. In ascending order, null comes last. */
          sort?: 'id' | '-id' | undefined
          /** The fields to return; the identifier is always included. */
          fields?: ('id' | 'number' | 'startedAt' | 'durationMilliseconds' | 'statusCode' | 'failure')[] | undefined
          /** Items per page. */
          perPage?: number | undefined
          /** The opaque cursor from a link. */
          after?: string | undefined
        } | undefined
      } & CallOptions
    ]
    data: WebhookAttempt[]
    always: 'id'
    own: 'WEBHOOK_DELIVERY_NOT_FOUND' | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code: GeneralCodes8 | 'WEBHOOK_DELIVERY_NOT_FOUND' | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
}

export interface PostOperations {
  /** Create a customer */
  '/v2/customers': {
    args: [
      input: {
        body: NewCustomer
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: Customer
    own: never
    code: GeneralCodes9
  }
  /** Execute a batch of operations */
  '/v2/order-batches': {
    args: [
      input: {
        body: NewOrderBatch
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: OrderBatch[]
    own: never
    code: GeneralCodes10
  }
  /** Create an order export */
  '/v2/order-exports': {
    args: [
      input?: {
        body?: NewOrderExport | undefined
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: OrderExport
    result: OrderExportFile[]
    own: never
    code: GeneralCodes11
  }
  /** Create an order */
  '/v2/orders': {
    args: [
      input: {
        body: NewOrder
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: Order
    own:
      | 'CUSTOMER_MISSING'
      | 'FOREIGN_CUSTOMER'
      | 'INSUFFICIENT_STOCK'
      | 'MIXED_CURRENCIES'
      | 'PRODUCT_DISCONTINUED'
      | 'UNKNOWN_CUSTOMER'
      | 'UNKNOWN_PRODUCT'
    code:
      | GeneralCodes12
      | 'CUSTOMER_MISSING'
      | 'FOREIGN_CUSTOMER'
      | 'INSUFFICIENT_STOCK'
      | 'MIXED_CURRENCIES'
      | 'PRODUCT_DISCONTINUED'
      | 'UNKNOWN_CUSTOMER'
      | 'UNKNOWN_PRODUCT'
  }
  /** Create an order cancellation */
  '/v2/orders/{id}/cancellations': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body?: NewOrderCancellation | undefined
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: OrderCancellation
    own: 'ORDER_ALREADY_CANCELLED' | 'ORDER_ALREADY_SHIPPED'
    code: GeneralCodes13 | 'ORDER_ALREADY_CANCELLED' | 'ORDER_ALREADY_SHIPPED'
  }
  /** Create an order item */
  '/v2/orders/{id}/items': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body: NewOrderItem
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: OrderItem
    own:
      | 'INSUFFICIENT_STOCK'
      | 'MIXED_CURRENCIES'
      | 'ORDER_NOT_PENDING'
      | 'PRODUCT_DISCONTINUED'
      | 'UNKNOWN_PRODUCT'
    code:
      | GeneralCodes14
      | 'INSUFFICIENT_STOCK'
      | 'MIXED_CURRENCIES'
      | 'ORDER_NOT_PENDING'
      | 'PRODUCT_DISCONTINUED'
      | 'UNKNOWN_PRODUCT'
  }
  /** Import products from a CSV file */
  '/v2/product-imports': {
    args: [
      input: {
        body: FormData
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: ProductImport
    result: ProductImportResult
    own: 'INVALID_PRODUCT_FILE'
    code: GeneralCodes15 | 'INVALID_PRODUCT_FILE'
  }
  /** Create a product */
  '/v2/products': {
    args: [
      input: {
        body: NewProduct
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: Product
    own: 'UNKNOWN_CATEGORY'
    code: GeneralCodes9 | 'UNKNOWN_CATEGORY'
  }
  /** Create a product image */
  '/v2/products/{id}/images': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: ProductImage
    own: 'INVALID_IMAGE'
    code: GeneralCodes16 | 'INVALID_IMAGE'
  }
  /** Create a token revocation */
  '/v2/token-revocations': {
    args: [
      input: {
        body: NewTokenRevocation
      } & CallOptions
    ]
    data: TokenRevocation
    own: never
    code: GeneralCodes17
  }
  /** Create a token */
  '/v2/tokens': {
    args: [
      input: {
        body: NewToken
      } & CallOptions
    ]
    data: Token
    own:
      | 'INVALID_CREDENTIALS'
      | 'INVALID_TOKEN_REQUEST'
      | 'LOGINS_OVERLOADED'
      | 'LOGIN_ATTEMPTS_EXCEEDED'
      | 'REFRESH_TOKEN_EXPIRED'
      | 'REFRESH_TOKEN_INVALID'
      | 'REFRESH_TOKEN_REUSED'
      | 'REFRESH_TOKEN_REVOKED'
    code:
      | GeneralCodes17
      | 'INVALID_CREDENTIALS'
      | 'INVALID_TOKEN_REQUEST'
      | 'LOGINS_OVERLOADED'
      | 'LOGIN_ATTEMPTS_EXCEEDED'
      | 'REFRESH_TOKEN_EXPIRED'
      | 'REFRESH_TOKEN_INVALID'
      | 'REFRESH_TOKEN_REUSED'
      | 'REFRESH_TOKEN_REVOKED'
  }
  /** Create a webhook subscription */
  '/v2/webhook-subscriptions': {
    args: [
      input: {
        body: NewWebhookSubscription
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: WebhookSubscriptionWithSecret
    own:
      | 'WEBHOOK_CHANGE_LIMIT'
      | 'WEBHOOK_EVENT_TYPE_UNKNOWN'
      | 'WEBHOOK_SUBSCRIPTION_LIMIT'
      | 'WEBHOOK_URL_REFUSED'
    code:
      | GeneralCodes9
      | 'WEBHOOK_CHANGE_LIMIT'
      | 'WEBHOOK_EVENT_TYPE_UNKNOWN'
      | 'WEBHOOK_SUBSCRIPTION_LIMIT'
      | 'WEBHOOK_URL_REFUSED'
  }
  /** Create a webhook subscription delivery redelivery */
  '/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}/redeliveries': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
          /** The path parameter deliveryId. */
          deliveryId: string
        }
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: WebhookDelivery
    own:
      | 'WEBHOOK_DELIVERY_NOT_FOUND'
      | 'WEBHOOK_DELIVERY_PENDING'
      | 'WEBHOOK_SUBSCRIPTION_DISABLED'
      | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code:
      | GeneralCodes18
      | 'WEBHOOK_DELIVERY_NOT_FOUND'
      | 'WEBHOOK_DELIVERY_PENDING'
      | 'WEBHOOK_SUBSCRIPTION_DISABLED'
      | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
  /** Create a webhook subscription ping */
  '/v2/webhook-subscriptions/{id}/pings': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: WebhookSubscriptionPing
    own: 'WEBHOOK_CHANGE_LIMIT' | 'WEBHOOK_SUBSCRIPTION_DISABLED' | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code:
      | GeneralCodes18
      | 'WEBHOOK_CHANGE_LIMIT'
      | 'WEBHOOK_SUBSCRIPTION_DISABLED'
      | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
  /** Create a webhook subscription recovery */
  '/v2/webhook-subscriptions/{id}/recoveries': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body: NewWebhookSubscriptionRecovery
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: WebhookSubscriptionRecovery
    own: 'WEBHOOK_RANGE_INVALID' | 'WEBHOOK_SUBSCRIPTION_DISABLED' | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code:
      | GeneralCodes14
      | 'WEBHOOK_RANGE_INVALID'
      | 'WEBHOOK_SUBSCRIPTION_DISABLED'
      | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
  /** Create a webhook subscription secret */
  '/v2/webhook-subscriptions/{id}/secrets': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: WebhookSubscriptionSecret
    own: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code: GeneralCodes18 | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
}

export interface PutOperations {
  /** Replace a product */
  '/v2/products/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body: ProductReplacement
        idempotencyKey?: string | undefined
        ifMatch?: string | undefined
      } & CallOptions
    ]
    data: Product
    own: 'UNKNOWN_CATEGORY'
    code: GeneralCodes19 | 'UNKNOWN_CATEGORY'
  }
}

export interface PatchOperations {
  /** Change a customer */
  '/v2/customers/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body: CustomerChanges
        idempotencyKey?: string | undefined
        ifMatch?: string | undefined
      } & CallOptions
    ]
    data: Customer
    own: never
    code: GeneralCodes14
  }
  /** Change a managed webhook subscription */
  '/v2/managed-webhook-subscriptions/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body: ManagedWebhookSubscriptionChanges
        ifMatch: string
      } & CallOptions
    ]
    data: ManagedWebhookSubscription
    own: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code: GeneralCodes20 | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
  /** Change an order */
  '/v2/orders/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body: OrderChanges
        idempotencyKey?: string | undefined
        ifMatch: string
      } & CallOptions
    ]
    data: Order
    own: 'STATUS_CHANGE_NOT_ALLOWED'
    code: GeneralCodes21 | 'STATUS_CHANGE_NOT_ALLOWED'
  }
  /** Change an order item */
  '/v2/orders/{id}/items/{itemId}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
          /** The path parameter itemId. */
          itemId: string
        }
        body: OrderItemChanges
        idempotencyKey?: string | undefined
        ifMatch?: string | undefined
      } & CallOptions
    ]
    data: OrderItem
    own: 'INSUFFICIENT_STOCK' | 'ORDER_NOT_PENDING' | 'PRODUCT_DISCONTINUED'
    code: GeneralCodes14 | 'INSUFFICIENT_STOCK' | 'ORDER_NOT_PENDING' | 'PRODUCT_DISCONTINUED'
  }
  /** Change a product */
  '/v2/products/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body: ProductChanges
        idempotencyKey?: string | undefined
        ifMatch?: string | undefined
      } & CallOptions
    ]
    data: Product
    own: 'UNKNOWN_CATEGORY'
    code: GeneralCodes14 | 'UNKNOWN_CATEGORY'
  }
  /** Change a user */
  '/v2/users/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body: UserChanges
        idempotencyKey?: string | undefined
      } & CallOptions
    ]
    data: User
    own: never
    code: GeneralCodes14
  }
  /** Change a webhook subscription */
  '/v2/webhook-subscriptions/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        body: WebhookSubscriptionChanges
        idempotencyKey?: string | undefined
        ifMatch: string
      } & CallOptions
    ]
    data: WebhookSubscription
    own:
      | 'WEBHOOK_CHANGE_LIMIT'
      | 'WEBHOOK_DISABLED_BY_ADMINISTRATOR'
      | 'WEBHOOK_EVENT_TYPE_UNKNOWN'
      | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
      | 'WEBHOOK_URL_REFUSED'
    code:
      | GeneralCodes21
      | 'WEBHOOK_CHANGE_LIMIT'
      | 'WEBHOOK_DISABLED_BY_ADMINISTRATOR'
      | 'WEBHOOK_EVENT_TYPE_UNKNOWN'
      | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
      | 'WEBHOOK_URL_REFUSED'
  }
}

export interface DeleteOperations {
  /** Delete a managed webhook subscription */
  '/v2/managed-webhook-subscriptions/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        ifMatch: string
      } & CallOptions
    ]
    data: undefined
    own: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code: GeneralCodes22 | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
  /** Delete an order export */
  '/v2/order-exports/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
      } & CallOptions
    ]
    data: undefined
    own: never
    code: GeneralCodes23
  }
  /** Delete an order */
  '/v2/orders/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        ifMatch: string
      } & CallOptions
    ]
    data: undefined
    own: 'ORDER_ALREADY_CANCELLED' | 'ORDER_ALREADY_SHIPPED'
    code: GeneralCodes22 | 'ORDER_ALREADY_CANCELLED' | 'ORDER_ALREADY_SHIPPED'
  }
  /** Delete an order item */
  '/v2/orders/{id}/items/{itemId}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
          /** The path parameter itemId. */
          itemId: string
        }
        ifMatch?: string | undefined
      } & CallOptions
    ]
    data: undefined
    own: 'ORDER_NOT_PENDING'
    code: GeneralCodes24 | 'ORDER_NOT_PENDING'
  }
  /** Delete a product import */
  '/v2/product-imports/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
      } & CallOptions
    ]
    data: undefined
    own: never
    code: GeneralCodes23
  }
  /** Delete a product */
  '/v2/products/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        idempotencyKey?: string | undefined
        ifMatch?: string | undefined
      } & CallOptions
    ]
    data: undefined
    own: 'PRODUCT_IN_ORDERS'
    code: GeneralCodes18 | 'PRODUCT_IN_ORDERS'
  }
  /** Delete a product image */
  '/v2/products/{id}/images/{imageId}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
          /** The path parameter imageId. */
          imageId: string
        }
        ifMatch?: string | undefined
      } & CallOptions
    ]
    data: undefined
    own: never
    code: GeneralCodes5
  }
  /** Delete a webhook subscription */
  '/v2/webhook-subscriptions/{id}': {
    args: [
      input: {
        path: {
          /** The path parameter id. */
          id: string
        }
        ifMatch: string
      } & CallOptions
    ]
    data: undefined
    own: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
    code: GeneralCodes22 | 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
  }
}

/** Webhooks by their type. */
export interface Events {
  'order.created': OrderCreatedEvent
  'order.updated': OrderUpdatedEvent
  'order.cancelled': OrderCancelledEvent
  'product.updated': ProductUpdatedEvent
  'webhook.subscription.disabled': WebhookSubscriptionDisabledEvent
  'webhook.ping': WebhookPingEvent
}

export interface Operations {
  get: GetOperations
  post: PostOperations
  put: PutOperations
  patch: PatchOperations
  delete: DeleteOperations
  paths: {
    get:
      | '/v2/audit-records'
      | '/v2/categories'
      | '/v2/categories/{id}'
      | '/v2/customers'
      | '/v2/customers/{id}'
      | '/v2/managed-webhook-subscriptions'
      | '/v2/managed-webhook-subscriptions/{id}'
      | '/v2/order-exports'
      | '/v2/order-exports/{id}'
      | '/v2/order-exports/{id}/files/{fileId}'
      | '/v2/order-summaries'
      | '/v2/orders'
      | '/v2/orders/{id}'
      | '/v2/orders/{id}/items'
      | '/v2/orders/{id}/items/{itemId}'
      | '/v2/product-imports'
      | '/v2/product-imports/{id}'
      | '/v2/product-imports/{id}/result'
      | '/v2/products'
      | '/v2/products/{id}'
      | '/v2/products/{id}/images'
      | '/v2/products/{id}/images/{imageId}'
      | '/v2/users/{id}'
      | '/v2/version-clients'
      | '/v2/webhook-subscriptions'
      | '/v2/webhook-subscriptions/{id}'
      | '/v2/webhook-subscriptions/{id}/deliveries'
      | '/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}'
      | '/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}/attempts'
    post:
      | '/v2/customers'
      | '/v2/order-batches'
      | '/v2/order-exports'
      | '/v2/orders'
      | '/v2/orders/{id}/cancellations'
      | '/v2/orders/{id}/items'
      | '/v2/product-imports'
      | '/v2/products'
      | '/v2/products/{id}/images'
      | '/v2/token-revocations'
      | '/v2/tokens'
      | '/v2/webhook-subscriptions'
      | '/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}/redeliveries'
      | '/v2/webhook-subscriptions/{id}/pings'
      | '/v2/webhook-subscriptions/{id}/recoveries'
      | '/v2/webhook-subscriptions/{id}/secrets'
    put: '/v2/products/{id}'
    patch:
      | '/v2/customers/{id}'
      | '/v2/managed-webhook-subscriptions/{id}'
      | '/v2/orders/{id}'
      | '/v2/orders/{id}/items/{itemId}'
      | '/v2/products/{id}'
      | '/v2/users/{id}'
      | '/v2/webhook-subscriptions/{id}'
    delete:
      | '/v2/managed-webhook-subscriptions/{id}'
      | '/v2/order-exports/{id}'
      | '/v2/orders/{id}'
      | '/v2/orders/{id}/items/{itemId}'
      | '/v2/product-imports/{id}'
      | '/v2/products/{id}'
      | '/v2/products/{id}/images/{imageId}'
      | '/v2/webhook-subscriptions/{id}'
    list:
      | '/v2/audit-records'
      | '/v2/categories'
      | '/v2/customers'
      | '/v2/managed-webhook-subscriptions'
      | '/v2/order-exports'
      | '/v2/order-summaries'
      | '/v2/orders'
      | '/v2/orders/{id}/items'
      | '/v2/product-imports'
      | '/v2/products'
      | '/v2/products/{id}/images'
      | '/v2/version-clients'
      | '/v2/webhook-subscriptions'
      | '/v2/webhook-subscriptions/{id}/deliveries'
      | '/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}/attempts'
    update:
      | '/v2/customers/{id}'
      | '/v2/managed-webhook-subscriptions/{id}'
      | '/v2/orders/{id}'
      | '/v2/orders/{id}/items/{itemId}'
      | '/v2/products/{id}'
      | '/v2/webhook-subscriptions/{id}'
    job:
      | '/v2/order-exports'
      | '/v2/product-imports'
      | '/v2/webhook-subscriptions/{id}/deliveries/{deliveryId}/redeliveries'
      | '/v2/webhook-subscriptions/{id}/pings'
      | '/v2/webhook-subscriptions/{id}/recoveries'
    batch: '/v2/order-batches'
  }
  events: Events
}

export const api: Api<Operations> = {
  version: '2.0.0',
  digest: 'sha-256=:oyMevyxI+xYf77rW7GZmF6W6vFsiqmtTl4rwQd0gimU=:',
  session: { signIn: '/v2/tokens', signOut: '/v2/token-revocations' },
  operations: {
    'GET /v2/audit-records': { lists: ['fields'] },
    'GET /v2/categories': { lists: ['fields'], open: 1 },
    'GET /v2/categories/{id}': { lists: ['fields'], open: 1 },
    'GET /v2/customers': { lists: ['fields'] },
    'POST /v2/customers': { key: 1 },
    'GET /v2/customers/{id}': { lists: ['fields'] },
    'PATCH /v2/customers/{id}': { key: 1 },
    'GET /v2/managed-webhook-subscriptions': { lists: ['fields'] },
    'GET /v2/managed-webhook-subscriptions/{id}': { lists: ['fields'] },
    'POST /v2/order-batches': { key: 1 },
    'GET /v2/order-exports': { lists: ['fields'] },
    'POST /v2/order-exports': { key: 1 },
    'GET /v2/order-exports/{id}': { lists: ['fields'] },
    'GET /v2/order-summaries': { lists: ['fields'] },
    'GET /v2/orders': { lists: ['status[in]', 'include', 'fields'] },
    'POST /v2/orders': { key: 1 },
    'GET /v2/orders/{id}': { lists: ['include', 'fields'] },
    'PATCH /v2/orders/{id}': { key: 1 },
    'POST /v2/orders/{id}/cancellations': { key: 1 },
    'GET /v2/orders/{id}/items': { lists: ['fields'] },
    'POST /v2/orders/{id}/items': { key: 1 },
    'GET /v2/orders/{id}/items/{itemId}': { lists: ['fields'] },
    'PATCH /v2/orders/{id}/items/{itemId}': { key: 1 },
    'GET /v2/product-imports': { lists: ['fields'] },
    'POST /v2/product-imports': { key: 1, type: 'multipart/form-data' },
    'GET /v2/product-imports/{id}': { lists: ['fields'] },
    'GET /v2/products': { lists: ['categoryId[in]', 'include', 'fields'], open: 1 },
    'POST /v2/products': { key: 1 },
    'GET /v2/products/{id}': { lists: ['include', 'fields'], open: 1 },
    'PUT /v2/products/{id}': { key: 1 },
    'PATCH /v2/products/{id}': { key: 1 },
    'DELETE /v2/products/{id}': { key: 1 },
    'GET /v2/products/{id}/images': { lists: ['fields'], open: 1 },
    'POST /v2/products/{id}/images': { key: 1, type: 'image/png' },
    'GET /v2/products/{id}/images/{imageId}': { lists: ['fields'], open: 1 },
    'POST /v2/token-revocations': { open: 1 },
    'POST /v2/tokens': { open: 1 },
    'GET /v2/users/{id}': { lists: ['fields'] },
    'PATCH /v2/users/{id}': { key: 1 },
    'GET /v2/version-clients': { lists: ['fields'] },
    'GET /v2/webhook-subscriptions': { lists: ['fields'] },
    'POST /v2/webhook-subscriptions': { key: 1 },
    'GET /v2/webhook-subscriptions/{id}': { lists: ['fields'] },
    'PATCH /v2/webhook-subscriptions/{id}': { key: 1 },
    'GET /v2/webhook-subscriptions/{id}/deliveries': { lists: ['fields'] },
    'GET /v2/webhook-subscriptions/{id}/deliveries/{deliveryId}': { lists: ['fields'] },
    'GET /v2/webhook-subscriptions/{id}/deliveries/{deliveryId}/attempts': { lists: ['fields'] },
    'POST /v2/webhook-subscriptions/{id}/deliveries/{deliveryId}/redeliveries': { key: 1 },
    'POST /v2/webhook-subscriptions/{id}/pings': { key: 1 },
    'POST /v2/webhook-subscriptions/{id}/recoveries': { key: 1 },
    'POST /v2/webhook-subscriptions/{id}/secrets': { key: 1 }
  }
}
