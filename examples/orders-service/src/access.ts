import { clientOf, type Policy, type Principal } from '@concordat/authentication'
import { NIL } from 'uuid'
import type { Customer } from './customers/schemas.ts'
import type { Order } from './orders/schemas.ts'

/** The permissions, by resource. Each route names those that it needs. */
const actions = {
  products: ['create', 'update', 'delete', 'import'],
  customers: ['list', 'create', 'read', 'update'],
  orders: ['read', 'create', 'update', 'advance', 'delete', 'export'],
  'order-summaries': ['read'],
  users: ['read', 'update'],
  webhooks: ['read', 'create', 'update', 'delete'],
  'managed-webhooks': ['read', 'update', 'delete'],
  metrics: ['read'],
  'version-clients': ['read'],
  audit: ['read']
}
const permissions = Object.entries(actions).flatMap(([resource, names]) => names.map((name) => `${resource}:${name}`))

const ofOrders = ['orders:read', 'orders:create', 'orders:update', 'orders:delete', 'orders:export']

const roles = {
  staff: ['products:*', 'customers:*', 'orders:*', 'order-summaries:*', 'webhooks:*'],
  customer: ['customers:read', 'customers:update', ...ofOrders, 'webhooks:*'],
  // Manages the roles and the subscriptions of all users, sees the metrics, who uses which version and who changed what, and no orders.
  administrator: ['users:*', 'managed-webhooks:*', 'metrics:*', 'version-clients:*', 'audit:*']
}

interface RequestCaller {
  readonly principal: Principal | null
}

/** Returns the customer that a caller is limited to, or `undefined` for staff, who act for the shop. */
export function customerOf(principal: Principal | null): string | undefined {
  return principal?.roles.includes('staff') ? undefined : (principal?.subject ?? NIL)
}

const orders: Policy<Order> = { secret: true, allows: (principal, _action, { customerId }) => mayActFor(principal, customerId) }
const customers: Policy<Customer> = { secret: true, allows: (principal, _action, { id }) => mayActFor(principal, id) }

/** Whether the caller may see and change the data of this customer. */
function mayActFor(principal: Principal | null, customerId: string): boolean {
  const only = customerOf(principal)
  return only === undefined || only === customerId
}

/** Returns the owner of a caller's subscriptions: the user, whatever the role, so that users keep their subscriptions when it changes. */
export function subscriberOf({ principal }: RequestCaller): string | undefined {
  return principal?.subject
}

/** The limits of the shop's own systems, such as its stock keeping, which act as staff: 20 orders a second, with some spare for retries and other requests. */
export const backend = {
  tier: 'backend',
  requests: { limit: 1500, windowSeconds: 60 },
  // 1,728,000 keys a day with responses of 1 kB take 2.9 GB.
  keyBytes: 4 * 2 ** 30
} as const

/** Returns the client of a request and the tier of its limits. */
export function limitedClientOf(request: RequestCaller): { readonly key: string; readonly tier?: string } | undefined {
  const key = clientOf(request)
  return key === undefined ? undefined : { key, ...(isBackend(request) && { tier: backend.tier }) }
}

/** Returns how many bytes of responses to keyed requests are stored for the client of a request, or undefined for the usual limit. */
export function keyBytesOf(request: RequestCaller): number | undefined {
  return isBackend(request) ? backend.keyBytes : undefined
}

function isBackend({ principal }: RequestCaller) {
  return principal !== null && customerOf(principal) === undefined
}

/** Returns the audience of a caller's subscriptions: the staff together, each customer alone. */
export function audienceOf({ principal }: RequestCaller): string {
  const customer = customerOf(principal)
  return customer === undefined ? 'staff' : `customer:${customer}`
}

/** The audiences of an event about an order. */
export function audiencesOf({ customerId }: Pick<Order, 'customerId'>): readonly string[] {
  return ['staff', `customer:${customerId}`]
}

/** The access rules: customers may act on their own orders and their own record, staff on everything. */
export const access = { permissions, roles, policies: { orders, customers } } as const
