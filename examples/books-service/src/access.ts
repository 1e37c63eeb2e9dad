// [auth] file
/** The permissions. Each route that is not public names those that it needs. */
export const permissions = [
  'authors:write',
  'books:write',
  'books:report', // [jobs]
  'audit:read', // [audit]
  'health:read',
  'metrics:read', // [metrics]
  // [webhooks] begin
  'webhooks:read',
  'webhooks:create',
  'webhooks:update',
  'webhooks:delete'
  // [webhooks] end
]

/** The permissions of each role. A user has the roles of its row in the table `users`. */
export const roles = { editor: permissions }
