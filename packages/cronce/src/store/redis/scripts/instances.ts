import { RECORDS_LUA } from './records.ts'
import { script } from './script.ts'

/** What claims and beats share. */
export const INSTANCES_LUA = `
-- False: it is over, or was never there. A lease that has run out is renewed like any other.
local function renew(id, lease)
  local key = INSTANCE .. id
  local row = call('HMGET', key, 'state', 'gone')
  if not row[1] or row[2] then return false end
  call('HINCRBY', key, 'renewals', 1)
  call('HSET', key, 'at', digits(now), 'lease', lease, 'ends', digits(now + lease))
  return true
end
`

/** A line for each instance of a list, and how leases are read. */
const ROWS_LUA = `
local DAY_MS = 86400000

-- When the clock was set back, a lease may seem to end hours from now. It ends as if it were renewed now, at the latest.
local function ends_of(id)
  local row = call('HMGET', INSTANCE .. id, 'lease', 'ends')
  local lease, ends = tonumber(row[1]) or 0, tonumber(row[2]) or 0
  if ends > now + lease then
    ends = now + lease
    call('HSET', INSTANCE .. id, 'ends', digits(ends))
  end
  return ends
end

local function instance_line(id)
  local row = call('HMGET', INSTANCE .. id, 'state', 'drain', 'renewals', 'at', 'started', 'record')
  if not row[6] then return nil end
  local expired = ends_of(id) <= now and '1' or '0'
  local busy = call('SISMEMBER', HOLDERS, id)
  return table.concat({ 'i' .. id, row[1], row[2], row[3], row[4], row[5], expired, busy, row[6] }, '\\t')
end

local function is_forgettable(id)
  return call('EXISTS', HELD .. id) == 0
end
`

/**
 * ARGV: epoch, id, state, join, lease, settled epoch ('' for none), record, app, its number, the last that was acknowledged ('' for
 * none), whether it is news, how to publish, channel, message.
 * Answers whether it is alive, the number of the last beat on record ('' for none), the bases of epochs, the version of the app, whether something is prunable; then lines that begin with
 * i (instance), h (run held), o (orphan).
 */
export const BEAT = script(
  'beat',
  INSTANCES_LUA,
  ROWS_LUA,
  `
local id, state, join, lease, settled = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local key = INSTANCE .. id
local has_settled = false

local function take_beat()
  local row = call('HMGET', key, 'state', 'gone', 'settled', 'beat')
  if row[2] then return false end
  if not row[1] then
    if join ~= '1' then return false end
    call('HSET', key, 'started', digits(now), 'drain', '0', 'renewals', '0')
    call('SADD', LIVE, id)
    -- Whoever was not there before has nothing to say about it.
    if settled == '' then settled = digits(epoch) end
  else
    local last = tonumber(row[4]) or 0
    -- A machine that was cloned sends the numbers of its original once more.
    if join ~= '1' and ARGV[9] ~= '' and not (tonumber(ARGV[10]) <= last and last < tonumber(ARGV[9])) then return false end
    call('HINCRBY', key, 'renewals', 1)
  end
  if (tonumber(ARGV[9]) or 0) > (tonumber(row[4]) or 0) then call('HSET', key, 'beat', ARGV[9]) end
  call('HSET', key, 'state', state, 'record', ARGV[7], 'at', digits(now), 'lease', lease, 'ends', digits(now + lease))
  if settled ~= '' and settled ~= row[3] then
    call('HSET', key, 'settled', settled)
    has_settled = held ~= 0
  end
  if state == 'left' then
    call('HSET', key, 'gone', digits(now))
    call('SREM', LIVE, id)
    call('ZADD', GONE, digits(now), id)
  end
  return true
end

local function is_prunable()
  if #call('ZRANGEBYSCORE', EXPIRING, '-inf', digits(now), 'LIMIT', 0, 1) > 0 then return true end
  for _, gone in ipairs(call('ZRANGEBYSCORE', GONE, '-inf', digits(now - DAY_MS), 'LIMIT', 0, 100)) do
    if is_forgettable(gone) then return true end
  end
  return false
end

local alive = take_beat()
if alive then count() end
-- While claims are held it may be the one that was waited for. Those who are woken beat, too: only news is told, or it would never end.
if ARGV[11] == '1' or has_settled then tell(ARGV[12], ARGV[13], ARGV[14]) end
local number = ''
if alive or call('HEXISTS', key, 'gone') == 0 and call('HEXISTS', key, 'state') == 1 then number = call('HGET', key, 'beat') or '0' end
local lines = {
  alive and '1' or '0',
  number,
  meta[5] or '',
  call('HGET', APP .. ARGV[8], 'version') or '0',
  is_prunable() and '1' or '0',
}
for _, live in ipairs(call('SMEMBERS', LIVE)) do lines[#lines + 1] = instance_line(live) end
for _, holder in ipairs(call('SMEMBERS', HOLDERS)) do
  if call('HEXISTS', INSTANCE .. holder, 'gone') == 1 then lines[#lines + 1] = 'o' .. holder end
end
if alive then
  for _, held_run in ipairs(call('SMEMBERS', HELD .. id)) do
    local schedule, token = match(held_run, '^([^\\n]*)\\n(.*)$')
    local found = call('HGET', SCHEDULE .. schedule, 'r' .. token)
    if found then lines[#lines + 1] = 'h' .. schedule .. '\\t' .. token .. '\\t' .. found end
  end
end
return answer(lines)
`,
)

/** ARGV: epoch, instance, renewals, hint. */
export const BURY = script(
  'bury',
  ROWS_LUA,
  `
local id = ARGV[2]
local key = INSTANCE .. id
local row = call('HMGET', key, 'state', 'gone', 'renewals')
if not row[1] then return answer({ '0' }) end
if row[2] then return answer({ row[1] == 'dead' and '1' or '0' }) end
if row[3] ~= ARGV[3] or (ARGV[4] ~= '1' and ends_of(id) > now) then return answer({ '0' }) end
call('HSET', key, 'state', 'dead', 'gone', digits(now))
call('SREM', LIVE, id)
call('ZADD', GONE, digits(now), id)
count()
return answer({ '1' })
`,
)

/** ARGV: epoch, instance, drain, how to publish, channel, message. */
export const DRAIN = script(
  'drain',
  `
local key = INSTANCE .. ARGV[2]
local row = call('HMGET', key, 'state', 'gone')
if not row[1] or row[2] then return answer({ '0' }) end
call('HSET', key, 'drain', ARGV[3])
count()
tell(ARGV[4], ARGV[5], ARGV[6])
return answer({ '1' })
`,
)

/** ARGV: epoch, ids. */
export const FIND_INSTANCES = script(
  'find_instances',
  ROWS_LUA,
  `
local lines = {}
for index = 2, #ARGV do lines[#lines + 1] = instance_line(ARGV[index]) end
return answer(lines)
`,
)

/**
 * ARGV: epoch, cursor ('' for the first page), how many. The first page begins with those that live and those that are over and hold
 * runs; then come the others that are over, the newest first. Answers the cursor of the next page, '' if there is none.
 */
export const INSTANCES = script(
  'instances',
  ROWS_LUA,
  `
local lines = { '' }
if ARGV[2] == '' then
  for _, id in ipairs(call('SMEMBERS', LIVE)) do lines[#lines + 1] = instance_line(id) end
  for _, id in ipairs(call('SMEMBERS', HOLDERS)) do
    if call('HEXISTS', INSTANCE .. id, 'gone') == 1 then lines[#lines + 1] = instance_line(id) end
  end
end
local first, most = tonumber(ARGV[2]) or 0, tonumber(ARGV[3])
if most == 0 then return answer(lines) end
local gone = call('ZREVRANGE', GONE, first, first + most - 1)
for _, id in ipairs(gone) do
  if call('SISMEMBER', HOLDERS, id) == 0 then lines[#lines + 1] = instance_line(id) end
end
if #gone == most then lines[1] = digits(first + #gone) end
return answer(lines)
`,
)

/** ARGV: epoch, how many. Answers how many fires went. */
export const PRUNE = script(
  'prune',
  RECORDS_LUA,
  ROWS_LUA,
  `
local limit = tonumber(ARGV[2])
local deleted = 0
-- A record that says when it may go but not how it ended is somebody's mistake, and no reason to lose an open fire.
for _, member in ipairs(call('ZRANGEBYSCORE', EXPIRING, '-inf', digits(now), 'LIMIT', 0, limit + 100)) do
  if deleted == limit then break end
  local schedule, fire = match(member, '^([^\\n]*)\\n(.*)$')
  local found = call('HGET', SCHEDULE .. schedule, 'F' .. fire)
  if not found then
    later('ZREM', EXPIRING, member)
  elseif string.sub(found, 1, 1) == '0' then
    delete_fire(schedule, fire)
    deleted = deleted + 1
  end
end
for _, id in ipairs(call('ZRANGEBYSCORE', GONE, '-inf', digits(now - DAY_MS), 'LIMIT', 0, limit + 100)) do
  if is_forgettable(id) then
    call('DEL', INSTANCE .. id)
    later('ZREM', GONE, id)
  end
end
finish()
count()
return answer({ digits(deleted) })
`,
)

/** ARGV: epoch, schedule, how many. Answers 'exists', or whether something is left. */
export const ERASE = script(
  'erase',
  RECORDS_LUA,
  `
local schedule, limit = ARGV[2], tonumber(ARGV[3])
if call('HEXISTS', SCHEDULE .. schedule, 'h') == 1 then return answer({ 'exists' }) end
local found = call('ZRANGE', FIRES_OF .. schedule, 0, limit - 1)
-- What may have been written without a fire, or outlived it.
if #found == 0 then found = call('SRANDMEMBER', STEPPED .. schedule, limit) end
for _, fire in ipairs(found) do delete_fire(schedule, fire) end
finish()
count()
return answer({ #found > 0 and '1' or '0' })
`,
)
