-- part: history
-- Lines of a schedule's history: how they are found, written and deleted. A *history* is a table: member, name, key, first (number of the
-- first line in the list), expires (see line.lua), length.

-- flag, dueAt, endedAt, expiresAt, token, startedAt, nonce; see history-line.ts
local LINE = '^(.)(%-?%d+) (%-?%d+) (%-?%d+) (%S+) (%-?%d+)[^\t]*\t([^\t]*)'

local function open_history(member, first, expires)
  local name = sub(member, 3)
  local key = HISTORY .. name
  return { member = member, name = name, key = key, first = first, expires = expires, length = call('LLEN', key) }
end

local function parse_line(text)
  local flag, due, ended, keeps, token, started, nonce = match(text, LINE)
  return {
    text = text,
    flag = flag,
    due = due,
    nonce = nonce,
    token = token,
    ended = due + ended,
    expires = due + ended + keeps,
    started = due + started,
  }
end

-- nil: there is none, or none any more.
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
  if line.flag == 'R' then
    call('ZADD', RANGES, line.due, history.member .. '\n' .. own)
    call('ZADD', RANGES_OF .. history.name, line.due, own)
  end
  if line.token ~= '-' then
    local ran = line.token .. '\n' .. number
    call('ZADD', RUNS, digits(line.started), history.member .. '\n' .. ran)
    call('ZADD', RUNS_OF .. history.name, digits(line.started), ran)
    call('HSET', TOKENS .. history.name, line.token, number)
  end
  if line.nonce ~= '' then call('HSET', NONCES .. history.name, line.nonce, number) end
  if line.flag ~= 'L' and (history.expires == '-' or line.expires < tonumber(history.expires)) then
    history.expires = digits(line.expires)
    call('ZADD', EXPIRING, history.expires, history.member)
  end
end

local function unindex_line(history, number, line)
  local own = line.nonce .. '\n' .. number
  call('ZREM', FIRES, history.member .. '\n' .. own)
  call('ZREM', FIRES_OF .. history.name, own)
  if line.flag == 'R' then
    call('ZREM', RANGES, history.member .. '\n' .. own)
    call('ZREM', RANGES_OF .. history.name, own)
  end
  if line.token ~= '-' then
    local ran = line.token .. '\n' .. number
    call('ZREM', RUNS, history.member .. '\n' .. ran)
    call('ZREM', RUNS_OF .. history.name, ran)
    if call('HGET', TOKENS .. history.name, line.token) == number then call('HDEL', TOKENS .. history.name, line.token) end
  end
  if match(line.text, '\n%+$') then call('HDEL', BODIES .. history.name, number) end
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

local function put_line(history, number, text, body)
  local at = tonumber(number)
  if history.length > 0 and at == history.first + history.length then
    call('RPUSH', history.key, text)
    history.length = history.length + 1
  else
    make_room(history, at)
    local old = get_line(history, number)
    if old then unindex_line(history, number, old) end
    call('LSET', history.key, at - history.first, text)
  end
  if body ~= '' then call('HSET', BODIES .. history.name, number, body) end
  local line = parse_line(text)
  index_line(history, number, line)
  return line
end

-- The lines of a fire, by number: those of the same due time with the same nonce.
local function lines_of_fire(history, due, nonce)
  local lines = {}
  for _, own in ipairs(call('ZRANGEBYSCORE', FIRES_OF .. history.name, due, due)) do
    local of, number = match(own, '^([^\n]*)\n(%d+)$')
    if of == nonce then lines[number] = get_line(history, number) end
  end
  return lines
end

-- The number of its final line, or of its last one; nil: the fire is not on record.
local function find_fire(history, due, nonce)
  local found, is_final = nil, false
  for number, line in pairs(lines_of_fire(history, due, nonce)) do
    local final = line.flag ~= 'L'
    if not found or (final and not is_final) or (final == is_final and tonumber(number) > tonumber(found)) then
      found, is_final = number, final
    end
  end
  return found
end

local function reopen(history, due, nonce)
  for number, line in pairs(lines_of_fire(history, due, nonce)) do
    if line.flag ~= 'L' then
      call('LSET', history.key, number - history.first, 'L' .. sub(line.text, 2))
      if line.flag == 'R' then
        local own = nonce .. '\n' .. number
        call('ZREM', RANGES, history.member .. '\n' .. own)
        call('ZREM', RANGES_OF .. history.name, own)
      end
    end
  end
end

local function delete_steps(name, fire)
  if call('SREM', STEPPED .. name, fire) == 1 then call('UNLINK', STEPS .. name .. '\n' .. fire) end
end

-- All lines of a fire, and whatever hangs on them. Their places stay, empty, until `drop_empty`.
local function delete_fire(history, due, nonce)
  for number, line in pairs(lines_of_fire(history, due, nonce)) do
    unindex_line(history, number, line)
    if line.token ~= '-' then call('HDEL', NOTES .. history.name, line.token) end
    call('LSET', history.key, number - history.first, '')
  end
  if nonce ~= '' then call('HDEL', NONCES .. history.name, nonce) end
  delete_steps(history.name, due .. ':' .. nonce)
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

-- Look at lines from the oldest on, at most `looks` of them, and call `visit` for each that is there, until it answers false.
-- Answers whether all were visited.
local function walk(history, looks, visit)
  local place = 0
  while place < history.length do
    if place >= looks then return false end
    for n, text in ipairs(call('LRANGE', history.key, place, place + 199)) do
      local number = history.first + place + n - 1
      if text ~= '' and visit(parse_line(text), number) == false then return false end
    end
    place = place + 200
  end
  return true
end

local function raise(field, to)
  if to > (tonumber(call('HGET', META, field)) or 0) then call('HSET', META, field, digits(to)) end
end

-- After deletions, outside of a change: the head of the schedule's line again, or nothing of a removed schedule that has no history left.
local function save_history(history)
  local line = read_line(history.member)
  if not line then return end
  local version, edition, _, due_mark, _, tokens, ended = match(line, HEAD)
  if edition == '0' and history.length == 0 then
    raise('ended', tonumber(ended))
    call('HDEL', shard_of(history.member), history.name)
    call('ZREM', EXPIRING, history.member)
    return
  end
  local rest = sub(line, #match(line, '^%d+ %d+ %d+ %S+ %S+') + 1)
  line = table.concat({ version, edition, digits(history.first), due_mark, history.expires }, ' ') .. rest
  call('HSET', shard_of(history.member), history.name, line)
end

local function load_history(member)
  local line = read_line(member)
  if not line then return nil end
  local _, edition, first, _, expires = match(line, HEAD)
  return open_history(member, tonumber(first), expires), edition
end
