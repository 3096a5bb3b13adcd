-- part: line
-- The head of a schedule's line:
--   version  of the schedule
--   edition  the version that wrote its settings; 0: the schedule was removed, and this keeps the numbers of its history
--   first    number of the first line in its history list; 0: there is none
--   mark     the highest due time without a nonce that was ever created or recorded; '-': none
--   expires  no final line may go before this; '-': none
--   tokens, ended
local HEAD = '^(%d+) (%d+) (%d+) (%S+) (%S+) (%d+) (%d+)'
-- dueAt, token ('-': it waits), nonce, instance, slots (each after a tab)
local OPEN_FIRE = '\n(%-?%d+) (%S+)[^\n\t]*\t([^\n\t]*)\t([^\n\t]*)([^\n]*)'

local function shard_of(member)
  return STATES .. sub(member, 1, 1)
end

local function read_line(member)
  return call('HGET', shard_of(member), sub(member, 3))
end

-- The line of a schedule that exists.
local function read_schedule(member)
  local line = read_line(member)
  if line and select(2, match(line, HEAD)) ~= '0' then return line end
  return nil
end

local function open_fires(line)
  local fires = {}
  for due, token, nonce, instance, slots in gmatch(line, OPEN_FIRE) do
    fires[#fires + 1] = { due = due, token = token, nonce = nonce, instance = instance, slots = slots }
  end
  return fires
end

-- The open run with this token, if its instance is known and has neither been declared dead nor left: a parked run has none.
local function find_live_run(member, token)
  local line = read_schedule(member)
  for _, fire in ipairs(line and open_fires(line) or {}) do
    if fire.token == token then
      local row = call('HMGET', INSTANCE .. fire.instance, 'state', 'gone')
      return row[1] and not row[2] and fire.due .. ':' .. fire.nonce or nil
    end
  end
  return nil
end
