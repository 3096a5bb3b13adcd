-- part: instances
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
  local row = call('HMGET', INSTANCE .. id, 'state', 'drain', 'renewals', 'at', 'started', 'record', 'gone')
  if not row[6] then return nil end
  local expired = ends_of(id) <= now and '1' or '0'
  local busy = call('SISMEMBER', HOLDERS, id)
  return table.concat({ 'i' .. id, row[1], row[2], row[3], row[4], row[5], row[7] or '', expired, busy, row[6] }, '\t')
end

local function is_forgettable(id)
  return call('EXISTS', HELD .. id) == 0
end

-- script: beat
-- uses: keys moment line instances
-- ARGV: epoch, id, state, join, lease, settled epoch ('' for none), record, app, its number, the last that was acknowledged ('' for none),
-- whether it is news, how to publish, channel, message.
-- Answers whether it is alive, the number of the last beat on record ('' for none), the bases of epochs, the version of the app, whether
-- something is prunable; then lines that begin with i (instance), h (member and line of a schedule with runs of its own), o (orphan).
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
    -- An instance that was not there before knows nothing about it.
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
-- While claims are held, the fleet may have waited for this instance. Woken instances send heartbeats too, so wake them only for news;
-- otherwise it would never end.
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
  for _, member in ipairs(call('SMEMBERS', HELD .. id)) do
    local line = read_schedule(member)
    if line then lines[#lines + 1] = 'h' .. member .. '\t' .. line end
  end
end
return answer(lines)

-- script: mark
-- uses: keys moment instances activity
-- ARGV: epoch, instance, then renewals and hint to declare it dead; or '', drain, how to publish, channel, message,
-- and a line of the operator log, if there is one.
local id, renewals = ARGV[2], ARGV[3]
local key = INSTANCE .. id
local row = call('HMGET', key, 'state', 'gone', 'renewals')
if not row[1] or row[2] then return answer({ renewals ~= '' and row[1] == 'dead' and '1' or '0' }) end
if renewals == '' then
  call('HSET', key, 'drain', ARGV[4])
  tell(ARGV[5], ARGV[6], ARGV[7])
  if ARGV[8] then add_activity(unpack(ARGV, 8, 12)) end
elseif row[3] ~= renewals or (ARGV[4] ~= '1' and ends_of(id) > now) then
  return answer({ '0' })
else
  call('HSET', key, 'state', 'dead', 'gone', digits(now))
  call('SREM', LIVE, id)
  call('ZADD', GONE, digits(now), id)
end
count()
return answer({ '1' })

-- script: find_instances
-- uses: keys moment instances
-- ARGV: epoch, ids.
local lines = {}
for index = 2, #ARGV do lines[#lines + 1] = instance_line(ARGV[index]) end
return answer(lines)

-- script: list_instances
-- uses: keys moment instances
-- ARGV: epoch, cursor ('' for the first page), how many. The first page begins with instances that live and those that are over and hold
-- runs; then come the others that are over, the newest first. Answers the cursor of the next page, '' if there is none.
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
