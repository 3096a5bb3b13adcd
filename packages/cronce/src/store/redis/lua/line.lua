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

local function is_removed(line)
  return string.find(line, '^%d+ 0 ')
end

-- The line of a schedule that exists.
local function read_schedule(member)
  local line = read_line(member)
  if line and not is_removed(line) then return line end
  return nil
end

-- Three lines for each schedule of these that exists: member, line, settings ('' if they are not wanted). One command for each shard.
local function add_schedules(lines, members, with_settings)
  local shards, known = {}, {}
  for _, member in ipairs(members) do
    local shard = sub(member, 1, 1)
    shards[shard] = shards[shard] or { names = {}, members = {} }
    local names = shards[shard].names
    names[#names + 1] = sub(member, 3)
    shards[shard].members[#names] = member
  end
  for shard, of in pairs(shards) do
    for first = 1, #of.names, 1000 do
      local last = math.min(first + 999, #of.names)
      local texts = call('HMGET', STATES .. shard, unpack(of.names, first, last))
      local settings = with_settings and call('HMGET', SETTINGS, unpack(of.names, first, last))
      for n = first, last do
        known[of.members[n]] = { texts[n - first + 1], settings and settings[n - first + 1] or '' }
      end
    end
  end
  for _, member in ipairs(members) do
    local line = known[member][1]
    if line and not is_removed(line) then
      lines[#lines + 1] = member
      lines[#lines + 1] = line
      lines[#lines + 1] = known[member][2]
    end
  end
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
