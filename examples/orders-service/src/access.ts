import type { Policy, Principal } from '@concordat/authentication'
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
export function subscriberOf({ principal }: { readonly principal: Principal | null }): string | undefined {
  return principal?.subject
}

/** Returns the audience of a caller's subscriptions: the staff together, each customer alone. */
export function audienceOf({ principal }: { readonly principal: Principal | null }): string {
  const customer = customerOf(principal)
  return customer === undefined ? 'staff' : `customer:${customer}`
}

/** The audiences of an event about an order. */
export function audiencesOf({ customerId }: Pick<Order, 'customerId'>): readonly string[] {
  return ['staff', `customer:${customerId}`]
}

/** The access rules: customers may act on their own orders and their own record, staff on everything. */
export const access = { permissions, roles, policies: { orders, customers } } as const
