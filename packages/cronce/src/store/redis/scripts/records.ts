/** Indexes of fires and runs, and how records go: whoever writes or deletes one does it here. */
export const RECORDS_LUA = `
-- open, fire, instance, slots
local RUN_PATTERN = '^([01])\\n([^\\n]*)\\n([^\\n]*)\\n(.*)$'
-- open, range, whether it is on record, when it ended, number, tokens
local FIRE_PATTERN = '^([01])([01])([01]) (%-?%d*) (%-?%d*) (.*)$'

-- What is added to or taken from one key many times in a script is sent in one go.
local pending = {}
local order = {}

local ADDS = { ZADD = true, SADD = true }

-- What one change writes it may trim as well, never the other way round: what is added is added first, whichever list was begun first.
local function flush()
  for _, is_adding in ipairs({ true, false }) do
    for _, list in ipairs(order) do
      local command, key = list[1], list[2]
      if (ADDS[command] or false) == is_adding then
        for first = 3, #list, 1000 do
          call(command, key, unpack(list, first, math.min(first + 999, #list)))
        end
      end
    end
  end
  pending = {}
  order = {}
end

local function later(command, key, one, two)
  local name = command .. key
  local list = pending[name]
  if not list then
    list = { command, key }
    pending[name] = list
    order[#order + 1] = list
  end
  local length = #list
  list[length + 1] = one
  if two then list[length + 2] = two end
end

-- Instances that took or gave back runs.
local touched = {}

local function hold(instance, run)
  later('SADD', HELD .. instance, run)
  touched[instance] = true
end

local function let_go(instance, run)
  later('SREM', HELD .. instance, run)
  touched[instance] = true
end

local function finish()
  flush()
  for instance in pairs(touched) do
    if call('EXISTS', HELD .. instance) == 1 then
      call('SADD', HOLDERS, instance)
    else
      call('SREM', HOLDERS, instance)
    end
  end
end

local function count_slots(slots, by)
  for slot in string.gmatch(slots, '[^\\t]+') do
    -- A slot may be somebody's name: there is no end of them.
    if call('HINCRBY', SLOTS, slot, by) <= 0 then call('HDEL', SLOTS, slot) end
  end
end


local function delete_run(schedule, token)
  local old = call('HGET', SCHEDULE .. schedule, 'R' .. token)
  if not old then return end
  local open, _, instance, slots = match(old, RUN_PATTERN)
  if open == '1' then
    let_go(instance, schedule .. '\\n' .. token)
    count_slots(slots, -1)
  end
  call('HDEL', SCHEDULE .. schedule, 'R' .. token, 'r' .. token, 'm' .. token)
  call('ZREM', RUNS_OF .. schedule, token)
  later('ZREM', RUNS, schedule .. '\\n' .. token)
end

-- The record of a fire, and all that hangs on it.
local function delete_fire(schedule, fire)
  if call('SREM', STEPPED .. schedule, fire) == 1 then
    call('UNLINK', STEPS .. schedule .. '\\n' .. fire)
  end
  local old = call('HGET', SCHEDULE .. schedule, 'F' .. fire)
  if not old then return end
  local open, range, _, _, _, tokens = match(old, FIRE_PATTERN)
  for token in string.gmatch(tokens, '%S+') do delete_run(schedule, token) end
  local member = schedule .. '\\n' .. fire
  local nonce = match(fire, '^[^:]*:(.*)$')
  call('HDEL', SCHEDULE .. schedule, 'F' .. fire, 'f' .. fire)
  -- It may be that of another fire, if this one was never on record.
  if nonce ~= '' and call('HGET', SCHEDULE .. schedule, 'n' .. nonce) == fire then
    call('HDEL', SCHEDULE .. schedule, 'n' .. nonce)
  end
  call('ZREM', FIRES_OF .. schedule, fire)
  call('ZREM', ENDED .. schedule, fire)
  later('ZREM', FIRES, member)
  later('ZREM', EXPIRING, member)
  if open == '1' then later('ZREM', OPEN, member) end
  if range == '1' then
    later('ZREM', RANGES, member)
    call('ZREM', RANGES_OF .. schedule, fire)
  end
end
`
