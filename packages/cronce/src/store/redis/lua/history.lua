-- part: history
-- Lines of a schedule's history: how they are found, written and deleted. A *history* is a table: member, name, key, first (number of the
-- first line in the list), expires (see line.lua), length, and by_due (see `regular_numbers`).

-- flag, dueAt, endedAt, expiresAt, token, reason, what is uncommon about the run, nonce; see history-line.ts
local LINE = '^(%a)(%-?%d+) (%-?%d+) (%-?%d+) (%S+) %-?%d+ %-?%d+ %-?%d+ (%w+)([^\t]*)\t([^\t]*)'
-- The same of final lines: dueAt, endedAt, expiresAt
local FINAL = '^[FfRr](%-?%d+) (%-?%d+) (%-?%d+) '
local REGULAR_MS = 10000
-- A look for the lines of one fire that would read more places than this reads the whole list, once per script.
local NARROW = 256
local DAY_LENGTH, HOUR_LENGTH = 86400000, 3600000

local function open_history(member, first, expires)
  local name = sub(member, 3)
  local key = HISTORY .. name
  return { member = member, name = name, key = key, first = first, expires = expires, length = call('LLEN', key) }
end

local function parse_line(text)
  local flag, due, ended, keeps, token, reason, more, nonce = match(text, LINE)
  local kind = string.upper(flag)
  return {
    text = text,
    kind = kind,
    is_final = kind ~= 'L',
    is_regular = kind == flag,
    due = due,
    nonce = nonce,
    token = token,
    reason = reason,
    more = more,
    ended = due + ended,
    expires = due + ended + keeps,
  }
end

-- nil: none, or not any more.
local function get_line(history, number)
  local place = tonumber(number) - history.first
  if place < 0 then return nil end
  local text = call('LINDEX', history.key, place)
  if not text or text == '' then return nil end
  return parse_line(text)
end

local function index_line(history, number, line)
  local own = line.nonce .. '\n' .. number
  call('ZADD', FIRES, line.due, history.member .. '\n' .. own)
  call('ZADD', FIRES_OF .. history.name, line.due, own)
  if line.kind == 'R' then
    call('ZADD', RANGES, line.due, history.member .. '\n' .. own)
    call('ZADD', RANGES_OF .. history.name, line.due, own)
  end
end

local function unindex_range(history, number, line)
  local own = line.nonce .. '\n' .. number
  call('ZREM', RANGES, history.member .. '\n' .. own)
  call('ZREM', RANGES_OF .. history.name, own)
end

-- Lines that became regular, less those that are no longer.
local regular = 0

local function unindex_line(history, number, line)
  if match(line.text, '\n%+$') then call('HDEL', BODIES .. history.name, number) end
  if line.is_regular then
    regular = regular - 1
    return
  end
  local own = line.nonce .. '\n' .. number
  call('ZREM', FIRES, history.member .. '\n' .. own)
  call('ZREM', FIRES_OF .. history.name, own)
  if line.kind == 'R' then unindex_range(history, number, line) end
end

local counts = {}

-- A fire has ended with this line (1), or is open again (-1).
local function count_end(line, by)
  if not line.is_final then return end
  local field = math.floor(line.due / HOUR_LENGTH) .. ' ' .. line.reason
  counts[field] = (counts[field] or 0) + by * (line.kind == 'R' and tonumber(match(line.more, '%d+$')) or 1)
end

local function save_counts()
  for field, by in pairs(counts) do
    local hour, reason = match(field, '^(%S+) (%S+)$')
    local day = digits(math.floor(hour / 24))
    local left = by ~= 0 and call('HINCRBY', COUNTS .. day, hour % 24 .. ' ' .. reason, digits(by))
    if left == by then call('ZADD', DAYS, day, day) end
    if left == 0 then call('HDEL', COUNTS .. day, hour % 24 .. ' ' .. reason) end
  end
end

-- Empty lines, so that the list has a place for this number. Only where numbers are missing, which they hardly ever are.
local function make_room(history, number)
  if history.length == 0 then history.first = number end
  for at = history.first - 1, number, -1 do
    call('LPUSH', history.key, '')
    history.first, history.length = at, history.length + 1
  end
  for at = history.first + history.length, number do
    call('RPUSH', history.key, '')
    history.length = at - history.first + 1
  end
end

local function is_recent(at)
  return at <= clock and at >= clock - REGULAR_MS
end

local function add_regular(by_due, due, number)
  by_due[due] = by_due[due] or {}
  table.insert(by_due[due], number)
end

local function put_line(history, number, text, body)
  local at = tonumber(number)
  local line = parse_line(text)
  local is_next = history.length > 0 and at == history.first + history.length
  local is_logged = line.is_final or line.token ~= '-'
  line.is_regular = (is_next or history.length == 0) and is_logged and line.kind ~= 'R'
    and is_recent(tonumber(line.due)) and is_recent(line.ended)
  if line.is_regular then regular = regular + 1 else text = string.lower(line.kind) .. sub(text, 2) end
  if line.is_regular and history.by_due then add_regular(history.by_due, line.due, at) end
  if is_next then
    call('RPUSH', history.key, text)
    history.length = history.length + 1
  else
    -- A prune that has passed this place begins again.
    call('HDEL', PRUNING, history.member)
    make_room(history, at)
    local old = get_line(history, number)
    if old then
      unindex_line(history, number, old)
      count_end(old, -1)
    end
    call('LSET', history.key, at - history.first, text)
  end
  if body ~= '' then call('HSET', BODIES .. history.name, number, body) end
  if not line.is_regular then index_line(history, number, line) end
  if line.nonce ~= '' then call('HSET', NONCES .. history.name, line.nonce, number) end
  count_end(line, 1)
  if line.is_final and (history.expires == '-' or line.expires < tonumber(history.expires)) then
    history.expires = digits(line.expires)
    call('ZADD', EXPIRING, history.expires, history.member)
  end
  return line
end

-- The next regular line at or behind this place, within a few.
local function next_regular(history, place)
  for n, text in ipairs(call('LRANGE', history.key, place, place + 31)) do
    if match(text, '^%u') then return parse_line(text), place + n - 1 end
  end
  return nil
end

-- A regular line was written at a time from `ended` to `ended + REGULAR_MS`, and at its due time or up to REGULAR_MS later; these times of
-- writing grow with the places. So halving finds places beyond which there is nothing for a time.

-- From this place on, no regular line is due at `time` or before.
local function place_above(history, time)
  local low, high, found = 0, history.length, history.length
  while high - low > 32 do
    local middle = math.floor((low + high) / 2)
    local line, place = next_regular(history, middle)
    if line and line.ended > time + REGULAR_MS then
      found, high = math.min(found, place), middle
    else
      low = middle + 1
    end
  end
  return found
end

-- Before this place, no regular line is due at `time` or later.
local function place_below(history, time)
  local low, high, found = 0, history.length, 0
  while high - low > 32 do
    local middle = math.floor((low + high) / 2)
    local line, place = next_regular(history, middle)
    if line and line.ended + REGULAR_MS < time then
      found, low = math.max(found, place + 1), place + 1
    else
      high = middle
    end
  end
  return found
end

-- All regular lines of the list: due time -> numbers. Some of these lines may have been deleted since.
local function read_regular(history)
  local by_due = {}
  for place = 0, history.length - 1, 1000 do
    for n, text in ipairs(call('LRANGE', history.key, place, place + 999)) do
      local due = match(text, '^%u(%-?%d+) ')
      if due then add_regular(by_due, due, history.first + place + n - 1) end
    end
  end
  return by_due
end

-- Numbers of the regular lines that may be due at this time. Where halving does not help, since regular lines are rare, a script that looks
-- for hundreds of fires reads the list only once.
local function regular_numbers(history, due)
  if history.by_due then return history.by_due[due] or {} end
  local from, to = place_below(history, tonumber(due)), place_above(history, tonumber(due)) - 1
  if to - from >= NARROW then
    history.by_due = read_regular(history)
    return history.by_due[due] or {}
  end
  local numbers = {}
  for n, text in ipairs(to < from and {} or call('LRANGE', history.key, from, to)) do
    if match(text, '^%u(%-?%d+) ') == due then numbers[#numbers + 1] = history.first + from + n - 1 end
  end
  return numbers
end

-- The lines of a fire, by number: those of the same due time with the same nonce.
local function lines_of_fire(history, due, nonce)
  local lines = {}
  for _, own in ipairs(call('ZRANGEBYSCORE', FIRES_OF .. history.name, due, due)) do
    local of, number = match(own, '^([^\n]*)\n(%d+)$')
    if of == nonce then lines[number] = get_line(history, number) end
  end
  for _, number in ipairs(regular_numbers(history, due)) do
    local line = get_line(history, number)
    if line and line.due == due and line.nonce == nonce then lines[digits(number)] = line end
  end
  return lines
end

-- The number of its final line, or of its last one; nil: the fire is not on record.
local function find_fire(history, due, nonce)
  local found, is_final = nil, false
  for number, line in pairs(lines_of_fire(history, due, nonce)) do
    local final = line.is_final
    if not found or (final and not is_final) or (final == is_final and tonumber(number) > tonumber(found)) then
      found, is_final = number, final
    end
  end
  return found
end

local function reopen(history, due, nonce)
  for number, line in pairs(lines_of_fire(history, due, nonce)) do
    if line.is_final then
      call('LSET', history.key, number - history.first, (line.is_regular and 'L' or 'l') .. sub(line.text, 2))
      count_end(line, -1)
      if line.kind == 'R' then unindex_range(history, number, line) end
    end
  end
end

local function delete_steps(name, fire)
  if call('SREM', STEPPED .. name, fire) == 1 then call('UNLINK', STEPS .. name .. '\n' .. fire) end
end

-- All lines of a fire, and everything that depends on them. Their places stay, empty, until `drop_empty`.
local function delete_fire(history, number, line)
  -- One that ran once and ended with it has no other line.
  local is_alone = line.more == '' and line.token ~= '-'
  local lines = is_alone and { [digits(number)] = line } or lines_of_fire(history, line.due, line.nonce)
  history.has_notes = history.has_notes or call('EXISTS', NOTES .. history.name)
  history.has_steps = history.has_steps or call('EXISTS', STEPPED .. history.name)
  for of, one in pairs(lines) do
    unindex_line(history, of, one)
    if one.token ~= '-' and history.has_notes == 1 then call('HDEL', NOTES .. history.name, one.token) end
    call('LSET', history.key, of - history.first, '')
  end
  if line.nonce ~= '' then call('HDEL', NONCES .. history.name, line.nonce) end
  if history.has_steps == 1 then delete_steps(history.name, line.due .. ':' .. line.nonce) end
end

-- Empty lines at the old end go.
local function drop_empty(history)
  while history.length > 0 do
    local lines = call('LRANGE', history.key, 0, 99)
    local empty = 0
    while lines[empty + 1] == '' do empty = empty + 1 end
    if empty == 0 then return end
    call('LTRIM', history.key, empty, -1)
    history.first, history.length = history.first + empty, history.length - empty
  end
end

-- Look at lines from the oldest on, or from this number on, and call `visit` for the text of each that is there, until it answers false.
-- Answers the number at which to go on; nil: all were visited. Lines are deleted afterwards, by `delete_all`.
local function walk(history, from, visit)
  local place = math.max(0, from - history.first)
  while place < history.length do
    for n, text in ipairs(call('LRANGE', history.key, place, place + 199)) do
      local number = history.first + place + n - 1
      if visit(text, number) == false then return number end
    end
    place = place + 200
  end
  return nil
end

local function delete_all(history, found)
  for _, item in ipairs(found) do
    local line, number = item[1], item[2]
    -- It may have been deleted with another line of its fire.
    if call('LINDEX', history.key, number - history.first) ~= '' then delete_fire(history, number, line) end
  end
  drop_empty(history)
end

local function raise(field, to)
  if to > (tonumber(call('HGET', META, field)) or 0) then call('HSET', META, field, digits(to)) end
end

-- 0: no line.
local function first_of(history)
  return history.length == 0 and '0' or digits(history.first)
end

-- After deletions, outside of a change: rewrites the head of the schedule's line, or deletes all keys of a removed schedule without
-- history.
local function save_history(history)
  local line = read_line(history.member)
  if not line then return end
  local version, edition, _, due_mark, _, tokens, ended = match(line, HEAD)
  if edition == '0' and history.length == 0 then
    raise('ended', tonumber(ended))
    call('HDEL', shard_of(history.member), history.name)
    call('ZREM', EXPIRING, history.member)
    call('HDEL', PRUNING, history.member)
    return
  end
  local rest = sub(line, #match(line, '^%d+ %d+ %d+ %S+ %S+') + 1)
  line = table.concat({ version, edition, first_of(history), due_mark, history.expires }, ' ') .. rest
  call('HSET', shard_of(history.member), history.name, line)
end

local function load_history(member)
  local line = read_line(member)
  if not line then return nil end
  local _, edition, first, _, expires = match(line, HEAD)
  return open_history(member, tonumber(first), expires), edition
end

-- What a script changed about the regular lines.
local function save_regular()
  if regular ~= 0 then call('HINCRBY', META, 'regular', digits(regular)) end
end
