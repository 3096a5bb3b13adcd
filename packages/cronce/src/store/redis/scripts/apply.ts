import { ENDS_KEPT } from '../../store.ts'
import { INSTANCES_LUA } from './instances.ts'
import { RECORDS_LUA } from './records.ts'
import { script } from './script.ts'

/**
 * How a change is written down: a head of short fields, which says what follows: state, definition, and a head and a record for each fire
 * and each run. Long texts stand by themselves, so that nothing has to be looked for in them. See `apply.ts`.
 */
const HEAD_FIELDS = 19
const FIRE_FIELDS = 7
const RUN_FIELDS = 6
const LIMIT_FIELDS = 2

/** One pattern takes all the fields of a head at once, and where the rest begins. */
function pattern(fields: number): string {
  return `'^${'([^\\n]*)\\n'.repeat(fields)}()'`
}

/**
 * ARGV: epoch, claimant ('' for none), its lease, how to publish ('' for not at all), channel, message,
 * the app whose record must be unchanged ('' for none), its version, and the changes.
 * The ids of the changes are all different. Answers one line each: a (applied), c (conflict), e (early), d (the definition is wanted),
 * x and fire and record (exists), f and slot (full); or one for all: n (not live), h (claims are held, or the app's record has another version).
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
local CURRENT = '^(%d+) (%d+) (%d+) (%S+)\\n([^\\n]*)\\n([^\\n]*)\\n(.*)$'
local TRIM_LIMIT = 200
-- Ended later than its number says (the clock was set back), or ahead of its time: look past it, but not for ever.
local TRIM_LOOKS = 1000

-- Where the next argument is.
local at = 9

local function take()
  at = at + 1
  return ARGV[at - 1]
end

-- The last field of each is its record.
local function take_records(how, times)
  local parts = {}
  for n = 1, times do
    local part = { match(take(), how) }
    part[#part] = take()
    parts[n] = part
  end
  return parts
end

local function take_limits(text, from, times)
  local parts = {}
  for n = 1, times do
    parts[n] = { match(text, LIMIT_AT, from) }
    from = parts[n][3]
  end
  return parts
end

local function contains(list, name)
  for item in string.gmatch(list, '[^\\t]+') do
    if item == name then return true end
  end
  return false
end

local function nonce_of(fire)
  return match(fire, '^[^:]*:(.*)$')
end

local function want(field, fields, known)
  if known[field] ~= nil then return end
  known[field] = false
  fields[#fields + 1] = field
end

-- The schedule, and what is on record of everything that a change mentions, by the names of the fields.
local function read_known(key, creates, updates, runs)
  local fields, known = { 'h' }, {}
  for _, create in ipairs(creates) do
    want('F' .. create[1], fields, known)
    local nonce = nonce_of(create[1])
    if nonce ~= '' then want('n' .. nonce, fields, known) end
  end
  for _, update in ipairs(updates) do want('F' .. update[1], fields, known) end
  for _, given in ipairs(runs) do
    want('R' .. given[1], fields, known)
    want('F' .. given[2], fields, known)
  end
  for first = 1, #fields, 1000 do
    local last = math.min(first + 999, #fields)
    local values = call('HMGET', key, unpack(fields, first, last))
    for n = first, last do known[fields[n]] = values[n - first + 1] end
  end
  return known
end

local function find_existing(id, creates, known)
  for _, create in ipairs(creates) do
    local fire = create[1]
    local found = known['F' .. fire]
    if not found or string.sub(found, 3, 3) == '0' then
      local nonce = nonce_of(fire)
      fire = nonce ~= '' and known['n' .. nonce]
    end
    local record = fire and call('HGET', SCHEDULE .. id, 'f' .. fire)
    if record then return 'x' .. fire .. '\\t' .. record end
  end
  return nil
end

local function find_full(runs, limits, known)
  for _, limit in ipairs(limits) do
    local slot = limit[1]
    local held_runs = tonumber(call('HGET', SLOTS, slot)) or 0
    for _, given in ipairs(runs) do
      if given[4] == '1' and contains(given[6], slot) then held_runs = held_runs + 1 end
      local old = known['R' .. given[1]]
      if old then
        local open, _, _, slots = match(old, RUN_PATTERN)
        if open == '1' and contains(slots, slot) then held_runs = held_runs - 1 end
      end
    end
    if held_runs > tonumber(limit[2]) then return 'f' .. slot end
  end
  return nil
end

local ends = {}

-- given: fire, open, until, number, endedAt, expiresAt, whether no run ended it, record. tokens: those of its runs that begin here.
local function put_fire(id, given, tokens, known, values)
  local fire, open, untilAt, number, ended, expires, own, record = unpack(given, 1, 8)
  local member = id .. '\\n' .. fire
  if own == '1' then ends[#ends + 1] = { 'f', member } end
  local was_open, was_range, was_ended, was_number, was_recorded = '0', '0', '', '', '0'
  local old = known['F' .. fire]
  if old then
    local was_tokens
    was_open, was_range, was_recorded, was_ended, was_number, was_tokens = match(old, FIRE_PATTERN)
    tokens = was_tokens .. tokens
  end
  local range = untilAt == '' and '0' or '1'
  local last = #values
  values[last + 1] = 'F' .. fire
  values[last + 2] = open .. range .. '1 ' .. ended .. ' ' .. number .. ' ' .. tokens
  values[last + 3] = 'f' .. fire
  values[last + 4] = record
  local due, nonce = match(fire, '^([^:]*):(.*)$')
  if not old then call('ZADD', FIRES_OF .. id, due, fire) end
  if was_recorded == '0' then
    later('ZADD', FIRES, due, member)
    if nonce ~= '' then
      values[#values + 1] = 'n' .. nonce
      values[#values + 1] = fire
    end
  end
  if open ~= was_open then
    if open == '1' then later('ZADD', OPEN, due, member) else later('ZREM', OPEN, member) end
  end
  if range ~= was_range then
    if range == '1' then
      later('ZADD', RANGES, due, member)
      call('ZADD', RANGES_OF .. id, due, fire)
    else
      later('ZREM', RANGES, member)
      call('ZREM', RANGES_OF .. id, fire)
    end
  end
  if number ~= was_number then
    if number ~= '' then call('ZADD', ENDED .. id, number, fire) else call('ZREM', ENDED .. id, fire) end
  end
  if expires ~= '' and open == '0' then
    later('ZADD', EXPIRING, expires, member)
  elseif was_ended ~= '' then
    later('ZREM', EXPIRING, member)
  end
end

-- given: token, fire, instance, open, startedAt, slots, record. Answers whether it begins here.
local function put_run(id, given, known, values)
  local token, fire, instance, open, started, slots, record = unpack(given, 1, 7)
  local old = known['R' .. token]
  local member = id .. '\\n' .. token
  local was_open = '0'
  if old then
    local was_slots, was_instance, _
    was_open, _, was_instance, was_slots = match(old, RUN_PATTERN)
    if was_open == '1' then
      count_slots(was_slots, -1)
      -- A run that is parked changes hands.
      if open == '0' or was_instance ~= instance then
        let_go(was_instance, member)
        was_open = '0'
      end
    end
  else
    later('ZADD', RUNS, started, member)
    call('ZADD', RUNS_OF .. id, started, token)
  end
  local last = #values
  values[last + 1] = 'R' .. token
  values[last + 2] = open .. '\\n' .. fire .. '\\n' .. instance .. '\\n' .. slots
  values[last + 3] = 'r' .. token
  values[last + 4] = record
  if open == '0' then ends[#ends + 1] = { 'r', member } end
  if open == '1' then
    count_slots(slots, 1)
    if was_open == '0' then hold(instance, member) end
  end
  return not old
end

local function put_records(id, creates, updates, runs, known, values)
  local begun = {}
  for _, given in ipairs(runs) do
    if put_run(id, given, known, values) then begun[given[2]] = (begun[given[2]] or '') .. given[1] .. ' ' end
  end
  for _, fires in ipairs({ creates, updates }) do
    for _, given in ipairs(fires) do
      put_fire(id, given, begun[given[1]] or '', known, values)
      begun[given[1]] = nil
    end
  end
  -- Of fires that this change says nothing about.
  for fire, tokens in pairs(begun) do
    local old = known['F' .. fire]
    values[#values + 1] = 'F' .. fire
    values[#values + 1] = (old or '000   ') .. tokens
    if not old then
      call('ZADD', FIRES_OF .. id, match(fire, '^[^:]*'), fire)
    end
  end
end

local function log_ends()
  if #ends == 0 then return end
  local number = call('HINCRBY', META, 'ends', #ends) - #ends
  for n, found in ipairs(ends) do
    call('XADD', ENDS, 'MAXLEN', '~', '${ENDS_KEPT}', digits(number + n) .. '-0', found[1], found[2])
  end
end

local function trim(id, below, before)
  local found = call('ZRANGEBYSCORE', ENDED .. id, '-inf', '(' .. below, 'LIMIT', 0, TRIM_LOOKS)
  local deleted = 0
  for _, fire in ipairs(found) do
    local found = call('HGET', SCHEDULE .. id, 'F' .. fire)
    local ended = found and select(4, match(found, FIRE_PATTERN))
    local due = tonumber(match(fire, '^[^:]*'))
    if ended and ended ~= '' and math.max(tonumber(ended), due) < tonumber(before) then
      delete_fire(id, fire)
      deleted = deleted + 1
      if deleted == TRIM_LIMIT then return end
    end
  end
end

local function raise_floor(to)
  local floor = tonumber(call('HGET', META, 'floor')) or 0
  if to > floor then call('HSET', META, 'floor', digits(to)) end
end

local epoch_now = digits(epoch)

local function apply()
  local head = take()
  local id, version, given_epoch, not_before, kind, wake, job, bucket, revision, tokens, tenant, app, below, before,
    has_definition, creates, updates, runs, limits, rest = match(head, HEAD_AT)
  local state = kind == 's' and take() or nil
  local definition = has_definition == '1' and take() or nil
  creates = take_records(FIRE_AT, tonumber(creates))
  updates = take_records(FIRE_AT, tonumber(updates))
  runs = take_records(RUN_AT, tonumber(runs))
  limits = take_limits(head, rest, tonumber(limits))
  local key = SCHEDULE .. id
  local known = read_known(key, creates, updates, runs)
  local current = known.h
  local was_version, was_tokens, was_revision, was_wake, was_job, was_tenant, was_app = '0', '0', nil, '-', nil, '', ''
  if current then
    was_version, was_tokens, was_revision, was_wake, was_job, was_tenant, was_app = match(current, CURRENT)
  end
  -- Everything is asked before anything is written: what is refused leaves no trace.
  if given_epoch ~= epoch_now or version ~= was_version then return 'c' end
  if not_before ~= '' and now < tonumber(not_before) then return 'e' end
  local refusal = find_existing(id, creates, known) or find_full(runs, limits, known)
  if refusal then return refusal end
  local is_redefined = kind == 's' and revision ~= was_revision
  if is_redefined and not definition then return 'd' end

  local member = bucket .. id
  local values = {}
  if kind == 's' then
    if not current then
      local floor = tonumber(call('HGET', META, 'floor')) or 0
      version = digits(floor + 1)
      tokens = digits(math.max(tonumber(tokens), floor))
    else
      version = digits(tonumber(version) + 1)
    end
    if not is_redefined then
      job = was_job or job
      tenant = was_tenant
    end
    values = { 'h', version .. ' ' .. tokens .. ' ' .. revision .. ' ' .. wake .. '\\n' .. job .. '\\n' .. tenant .. '\\n' .. app, 's', state }
    if is_redefined then
      values[5] = 'd'
      values[6] = definition
    end
    if not current then later('ZADD', NAMES, '0', id) end
    if job ~= was_job then
      if was_job then
        call('ZREM', NAMES_OF_JOB .. was_job, id)
        if was_wake ~= '-' then call('ZREM', DUE .. was_job, member) end
        was_wake = '-'
      end
      later('ZADD', NAMES_OF_JOB .. job, '0', id)
    end
    if tenant ~= was_tenant then
      if was_tenant ~= '' then call('ZREM', NAMES_OF_TENANT .. was_tenant, id) end
      if tenant ~= '' then later('ZADD', NAMES_OF_TENANT .. tenant, '0', id) end
    end
    if app ~= was_app then
      if was_app ~= '' then call('ZREM', NAMES_OF_APP .. was_app, id) end
      if app ~= '' then later('ZADD', NAMES_OF_APP .. app, '0', id) end
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
    call('HDEL', key, 'h', 's', 'd')
    call('ZREM', NAMES, id)
    call('ZREM', NAMES_OF_JOB .. was_job, id)
    if was_tenant ~= '' then call('ZREM', NAMES_OF_TENANT .. was_tenant, id) end
    if was_app ~= '' then call('ZREM', NAMES_OF_APP .. was_app, id) end
    call('ZREM', DUE .. was_job, member)
  end
  put_records(id, creates, updates, runs, known, values)
  for first = 1, #values, 1000 do
    call('HSET', key, unpack(values, first, math.min(first + 999, #values)))
  end
  if below ~= '' then trim(id, below, before) end
  return 'a'
end

local claimant = ARGV[2]
if claimant ~= '' and not renew(claimant, ARGV[3]) then return answer({ 'n' }) end
if claimant ~= '' and is_held() then
  count()
  return answer({ 'h' })
end
if ARGV[7] ~= '' and (call('HGET', APP .. ARGV[7], 'version') or '0') ~= ARGV[8] then return answer({ 'h' }) end
local lines = {}
local is_applied = false
while at <= #ARGV do
  local line = apply()
  if line == 'a' then is_applied = true end
  lines[#lines + 1] = line
end
log_ends()
finish()
if is_applied or claimant ~= '' then count() end
if is_applied and ARGV[4] ~= '' then tell(ARGV[4], ARGV[5], ARGV[6]) end
return answer(lines)
`,
)
