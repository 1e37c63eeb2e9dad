import { script } from './redis.ts'

// ARGV[1] is the name of the client's hash, which has the stored bytes of its responses by the time at which they expire. ARGV[2] is the key;
// its record is a hash whose name begins with that of the client: fingerprint, token, attempt, end of the lease, and after completion status,
// header fields and body. `claim` is the id of the request that claimed it. If these are the progress of a request that is not finished, `progress` is `running` or `idle`. Times are those of Redis. Tokens are its time in microseconds, so that they also grow after a record was lost.
const record = `
local record = ARGV[1] .. ':' .. ARGV[2]
`
const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`
// A record that was completed does not change, and neither does one between two attempts.
const owned = `
local fields = redis.call('HMGET', record, 'token', 'status', 'progress')
local isOwn = fields[1] == ARGV[3]
local isOpen = isOwn and (not fields[2] or fields[3] == 'running')
`

// What the client has stored, and when the first of it expires.
const stored = `
local stored, first = 0, math.huge
local sizes = redis.call('HGETALL', ARGV[1])
for at = 1, #sizes, 2 do
  local ends = tonumber(sizes[at])
  if ends <= now then
    redis.call('HDEL', ARGV[1], sizes[at])
  else
    stored, first = stored + sizes[at + 1], math.min(first, ends)
  end
end
local bytes = string.format('%.0f', stored)
`

export const begin = script(`${record}${clock}
if redis.call('EXISTS', ARGV[1] .. ':withdrawn:' .. ARGV[8]) == 1 then return { 'busy', '0' } end
local fields = redis.call('HMGET', record, 'fingerprint', 'token', 'attempt', 'lease', 'status', 'headers', 'body', 'progress', 'claim')
if fields[1] then
  if fields[1] ~= ARGV[3] then return { 'mismatch' } end
  if fields[5] and not fields[8] then return { 'done', fields[5], fields[6], fields[7] } end
end
local isRepeated = fields[1] and fields[9] == ARGV[8] and (not fields[8] or fields[8] == 'running')
if fields[1] and not isRepeated then
  local left = fields[4] - now
  if left > 0 then return { 'busy', string.format('%.0f', left) } end
  if ARGV[6] == 'no' and fields[8] ~= 'idle' then return { 'abandoned' } end
end
${stored}
if isRepeated and not fields[8] then return { 'claimed', fields[2], fields[3], bytes } end
if isRepeated then return { 'claimed', fields[2], fields[3], bytes, fields[5], fields[6], fields[7] } end
if stored >= tonumber(ARGV[7]) then return { 'exceeded', string.format('%.0f', first - now) } end
local token = string.format('%.0f', math.max((fields[2] or 0) + 1, time[1] * 1000000 + time[2]))
local attempt = fields[8] == 'idle' and '1' or string.format('%.0f', (fields[3] or 0) + 1)
redis.call('HSET', record, 'fingerprint', ARGV[3], 'token', token, 'attempt', attempt, 'lease', string.format('%.0f', now + ARGV[4]), 'claim', ARGV[8])
redis.call('PEXPIRE', record, ARGV[5])
if not fields[8] then return { 'claimed', token, attempt, bytes } end
redis.call('HSET', record, 'progress', 'running')
return { 'claimed', token, attempt, bytes, fields[5], fields[6], fields[7] }
`)

export const renew = script(`${record}${clock}
${owned}
if not isOpen then return 0 end
redis.call('HSET', record, 'lease', string.format('%.0f', now + ARGV[4]))
return 1
`)

// The times of expiry are rounded up to a 64th of the lifetime, so that a client has few fields, and a claim adds up few numbers. 900 is about
// what a record takes without the response.
export const complete = script(`${record}${clock}
${owned}
if not isOwn then return 0 end
if not isOpen then return 1 end
redis.call('HSET', record, 'status', ARGV[5], 'headers', ARGV[6], 'body', ARGV[7])
if ARGV[9] == 'yes' then redis.call('HSET', record, 'progress', 'idle', 'lease', 0) else redis.call('HDEL', record, 'progress') end
redis.call('PEXPIRE', record, ARGV[4])
local step = math.ceil(ARGV[4] / 64)
local ends = string.format('%.0f', math.ceil((now + ARGV[4]) / step) * step)
redis.call('HINCRBY', ARGV[1], ends, 900 + #ARGV[6] + #ARGV[7])
if redis.call('PTTL', ARGV[1]) < ends - now then redis.call('PEXPIREAT', ARGV[1], ends) end
redis.call('PUBLISH', ARGV[8], ARGV[2])
return 1
`)

export const release = script(`${record}
${owned}
if not isOpen then return 0 end
if fields[3] then redis.call('HSET', record, 'progress', 'idle', 'lease', 0) else redis.call('DEL', record) end
redis.call('PUBLISH', ARGV[4], ARGV[2])
return 1
`)

// The mark refuses a `begin` that arrives later. Ten minutes is longer than a network delays it. A record with an earlier owner that was lost is
// not deleted, so that its number of attempts remains.
export const withdraw = script(`${record}
redis.call('SET', ARGV[1] .. ':withdrawn:' .. ARGV[3], '', 'PX', 600000)
local fields = redis.call('HMGET', record, 'claim', 'status', 'progress', 'attempt')
if fields[1] ~= ARGV[3] or (fields[2] and fields[3] ~= 'running') then return end
if fields[3] then redis.call('HSET', record, 'progress', 'idle', 'lease', 0)
elseif fields[4] ~= '1' then redis.call('HSET', record, 'lease', 0)
else redis.call('DEL', record) end
redis.call('PUBLISH', ARGV[4], ARGV[2])
`)

export const settings = script(`return redis.call('INFO', 'memory') .. redis.call('INFO', 'persistence')`)
