// The resource that every server of the benchmark sends.
export const item = {
  id: '01937f6e-0000-7000-8000-000000000001',
  name: 'Chai',
  categoryId: '01937f6e-0000-7000-8000-000000000002',
  unitPrice: '18.00',
  currency: 'EUR',
  unitsInStock: 39,
  discontinued: false,
  createdAt: '2025-01-01T00:00:00.000Z',
  updatedAt: '2025-01-01T00:00:00.000Z'
}

export const list = Array.from({ length: 50 }, () => ({ ...item }))

const text = { type: 'string' }
const time = { type: 'string', format: 'date-time' }
export const itemSchema = {
  type: 'object',
  required: Object.keys(item),
  properties: {
    id: text,
    name: text,
    categoryId: text,
    unitPrice: text,
    currency: text,
    unitsInStock: { type: 'integer' },
    discontinued: { type: 'boolean' },
    createdAt: time,
    updatedAt: time
  }
}

const link = { type: 'object', required: ['rel', 'href', 'method'], properties: { rel: text, href: text, method: text } }
const meta = { type: 'object', required: ['version', 'timestamp'], properties: { version: text, timestamp: text } }
export function envelopeSchema(data: object): object {
  return {
    type: 'object',
    required: ['data', '_links', '_meta'],
    properties: { data, _links: { type: 'array', items: link }, _meta: meta }
  }
}
