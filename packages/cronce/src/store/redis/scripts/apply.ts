import { INSTANCES_LUA } from './instances.ts'
import { RECORDS_LUA } from './records.ts'
import { script } from './script.ts'

/** How a change is written down: lines, of which the last of the head says how many of what follow. See `apply.ts`. */
const HEAD_FIELDS = 19
const FIRE_FIELDS = 7
const RUN_FIELDS = 7
const LIMIT_FIELDS = 2

/** One pattern takes all the fields of a part at once, and where the next part begins. */
function pattern(fields: number): string {
  return `'^${'([^\\n]*)\\n'.repeat(fields)}()'`
}

/**
 * ARGV: epoch, claimant ('' for none), its lease, how to publish ('' for not at all), channel, message, and one change each.
 * The ids of the changes are all different. Answers one line each: a (applied), c (conflict), e (early), d (the definition is wanted),
 * x and fire and record (exists), f and slot (full); or one n for all (not live).
 */
export const APPLY = script(
  'apply',
  RECORDS_LUA,
  INSTANCES_LUA,
  `
local HEAD_AT = ${pattern(HEAD_FIELDS)}
local FIRE_AT = ${pattern(FIRE_FIELDS)}
local RUN_AT = ${pattern(RUN_FIELDS)}
local LIMIT_AT = ${pattern(LIMIT_FIELDS)}
local CURRENT = '^(%d+) (%d+) (%d+) (%S+)\\n([^\\n]*)\\n(.*)$'
local TRIM_LIMIT = 200
-- Ended later than its number says (the clock was set back): look past it, but not for ever.
local TRIM_LOOKS = 1000

local function take(text, at, how, times)
  local parts = {}
  for n = 1, times do
    local part = { string.match(text, how, at) }
    at = part[#part]
    parts[n] = part
  end
  return parts, at
end

local function contains(list, name)
  for item in string.gmatch(list, '[^\\t]+') do
    if item == name then return true end
  end
  return false
end

local function find_existing(id, creates)
  for _, create in ipairs(creates) do
    local fire = create[1]
    local found = redis.call('HGET', FIRE .. id, fire)
    if not found then
      local nonce = string.match(fire, '^[^:]*:(.*)$')
      if nonce ~= '' then
        fire = redis.call('HGET', NONCES .. id, nonce)
        found = fire and redis.call('HGET', FIRE .. id, fire)
      end
    end
    if found then
      local _, _, _, record = string.match(found, FIRE_PATTERN)
      return 'x' .. fire .. '\\t' .. record
    end
  end
  return nil
end

local function find_full(id, runs, limits)
  for _, limit in ipairs(limits) do
    local slot = limit[1]
    local held = tonumber(redis.call('HGET', SLOTS, slot)) or 0
    for _, given in ipairs(runs) do
      if given[4] == '1' and contains(given[6], slot) then held = held + 1 end
      local old = redis.call('HGET', RUN .. id, given[1])
      if old then
        local open, _, _, slots = string.match(old, RUN_PATTERN)
        if open == '1' and contains(slots, slot) then held = held - 1 end
      end
    end
    if held > tonumber(limit[2]) then return 'f' .. slot end
  end
  return nil
end

-- fire, open, until, number, endedAt, expiresAt, record
local function put_fire(id, given, is_new)
  local fire, open, untilAt, number, ended, expires, record = unpack(given, 1, 7)
  local member = id .. '\\n' .. fire
  local was_open, was_range, was_numbered = '0', '0', false
  if not is_new then
    local old = redis.call('HGET', FIRE .. id, fire)
    if old then
      local was_ended
      was_open, was_range, was_ended = string.match(old, FIRE_PATTERN)
      was_numbered = was_ended ~= ''
    else
      is_new = true
    end
  end
  local range = untilAt == '' and '0' or '1'
  redis.call('HSET', FIRE .. id, fire, open .. range .. ended .. '\\n' .. record)
  if is_new then
    local due, nonce = string.match(fire, '^([^:]*):(.*)$')
    redis.call('ZADD', FIRES_OF .. id, due, fire)
    later('ZADD', FIRES, due, member)
    if nonce ~= '' then redis.call('HSET', NONCES .. id, nonce, fire) end
  end
  if open ~= was_open then
    if open == '1' then
      later('ZADD', OPEN, string.match(fire, '^[^:]*'), member)
    else
      later('ZREM', OPEN, member)
    end
  end
  if range ~= was_range then
    if range == '1' then
      local due = string.match(fire, '^[^:]*')
      later('ZADD', RANGES, due, member)
      redis.call('ZADD', RANGES_OF .. id, due, fire)
    else
      later('ZREM', RANGES, member)
      redis.call('ZREM', RANGES_OF .. id, fire)
    end
  end
  if number ~= '' then
    redis.call('ZADD', ENDED .. id, number, fire)
  elseif was_numbered then
    redis.call('ZREM', ENDED .. id, fire)
  end
  if expires ~= '' then
    later('ZADD', EXPIRING, expires, member)
  elseif was_numbered then
    later('ZREM', EXPIRING, member)
  end
end

-- token, fire, instance, open, startedAt, slots, record
local function put_run(id, given)
  local token, fire, instance, open, started, slots, record = unpack(given, 1, 7)
  local old = redis.call('HGET', RUN .. id, token)
  local member = id .. '\\n' .. token
  local was_open = '0'
  if old then
    local was_slots, was_instance, _
    was_open, _, was_instance, was_slots = string.match(old, RUN_PATTERN)
    if was_open == '1' then
      count_slots(was_slots, -1)
      if open == '0' then let_go(was_instance, member) end
    end
  else
    later('ZADD', RUNS, started, member)
    redis.call('ZADD', RUNS_OF .. id, started, token)
    redis.call('ZADD', TRIES .. id, 0, fire .. '\\n' .. token)
  end
  redis.call('HSET', RUN .. id, token, open .. '\\n' .. fire .. '\\n' .. instance .. '\\n' .. slots .. '\\n' .. record)
  if open == '1' then
    count_slots(slots, 1)
    if was_open == '0' then hold(instance, member) end
  end
end

local function trim(id, below, before)
  local found = redis.call('ZRANGEBYSCORE', ENDED .. id, '-inf', '(' .. below, 'LIMIT', 0, TRIM_LOOKS)
  local deleted = 0
  for _, fire in ipairs(found) do
    local record = redis.call('HGET', FIRE .. id, fire)
    local ended = record and select(3, string.match(record, FIRE_PATTERN))
    if ended and ended ~= '' and tonumber(ended) < tonumber(before) then
      delete_fire(id, fire)
      deleted = deleted + 1
      if deleted == TRIM_LIMIT then return end
    end
  end
end

local function raise_floor(to)
  local floor = tonumber(redis.call('HGET', META, 'floor')) or 0
  if to > floor then redis.call('HSET', META, 'floor', digits(to)) end
end

local function apply(text)
  local id, version, given_epoch, not_before, kind, wake, job, bucket, revision, tokens, state, definition, tenant, below, before,
    creates, updates, runs, limits, at = string.match(text, HEAD_AT)
  local key = SCHEDULE .. id
  local current = redis.call('HGET', key, 'h')
  local was_version, was_tokens, was_revision, was_wake, was_job, was_tenant = '0', '0', nil, '-', nil, ''
  if current then was_version, was_tokens, was_revision, was_wake, was_job, was_tenant = string.match(current, CURRENT) end
  -- Everything is asked before anything is written: what is refused leaves no trace.
  if given_epoch ~= digits(epoch) or version ~= was_version then return 'c' end
  if not_before ~= '' and now < tonumber(not_before) then return 'e' end
  creates, at = take(text, at, FIRE_AT, tonumber(creates))
  updates, at = take(text, at, FIRE_AT, tonumber(updates))
  runs, at = take(text, at, RUN_AT, tonumber(runs))
  limits = take(text, at, LIMIT_AT, tonumber(limits))
  local refusal = find_existing(id, creates) or find_full(id, runs, limits)
  if refusal then return refusal end
  local is_redefined = kind == 's' and revision ~= was_revision
  if is_redefined and definition == '' then return 'd' end

  local member = bucket .. id
  if kind == 's' then
    if not current then
      local floor = tonumber(redis.call('HGET', META, 'floor')) or 0
      version = digits(floor + 1)
      tokens = digits(math.max(tonumber(tokens), floor))
    else
      version = digits(tonumber(version) + 1)
    end
    if not is_redefined then
      job = was_job or job
      tenant = was_tenant
    end
    local head = version .. ' ' .. tokens .. ' ' .. revision .. ' ' .. wake .. '\\n' .. job .. '\\n' .. tenant
    if is_redefined then
      redis.call('HSET', key, 'h', head, 's', state, 'd', definition)
    else
      redis.call('HSET', key, 'h', head, 's', state)
    end
    if not current then later('ZADD', NAMES, '0', id) end
    if job ~= was_job then
      if was_job then
        redis.call('ZREM', NAMES_OF_JOB .. was_job, id)
        if was_wake ~= '-' then redis.call('ZREM', DUE .. was_job, member) end
        was_wake = '-'
      end
      later('ZADD', NAMES_OF_JOB .. job, '0', id)
    end
    if tenant ~= was_tenant then
      if was_tenant ~= '' then redis.call('ZREM', NAMES_OF_TENANT .. was_tenant, id) end
      if tenant ~= '' then later('ZADD', NAMES_OF_TENANT .. tenant, '0', id) end
    end
    if wake ~= was_wake then
      if wake == '-' then
        later('ZREM', DUE .. job, member)
      else
        later('ZADD', DUE .. job, wake, member)
      end
    end
  elseif current then
    raise_floor(math.max(tonumber(was_version), tonumber(was_tokens)))
    redis.call('DEL', key)
    redis.call('ZREM', NAMES, id)
    redis.call('ZREM', NAMES_OF_JOB .. was_job, id)
    if was_tenant ~= '' then redis.call('ZREM', NAMES_OF_TENANT .. was_tenant, id) end
    redis.call('ZREM', DUE .. was_job, member)
  end
  for _, fire in ipairs(creates) do put_fire(id, fire, true) end
  for _, fire in ipairs(updates) do put_fire(id, fire, false) end
  for _, given in ipairs(runs) do put_run(id, given) end
  if below ~= '' then trim(id, below, before) end
  return 'a'
end

local claimant = ARGV[2]
if claimant ~= '' and not renew(claimant, ARGV[3]) then return answer({ 'n' }) end
local lines = {}
local is_applied = false
if claimant ~= '' and is_held() then
  for n = 7, #ARGV do lines[#lines + 1] = 'c' end
else
  for n = 7, #ARGV do
    local line = apply(ARGV[n])
    if line == 'a' then is_applied = true end
    lines[#lines + 1] = line
  end
end
finish()
if is_applied or claimant ~= '' then count() end
if is_applied and ARGV[4] ~= '' then redis.call(ARGV[4], ARGV[5], ARGV[6]) end
return answer(lines)
`,
)
