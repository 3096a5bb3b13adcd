-- part: stretch
-- A stretch of a sorted set, from behind a place on. That place may be gone, and thousands may share its score, so where it stands is found
-- by halving: names are compared byte by byte, as the server sorts them, whatever its locale says about texts.
local function is_before(one, other)
  local length = math.min(#one, #other)
  for n = 1, length do
    local first, second = string.byte(one, n), string.byte(other, n)
    if first ~= second then return first < second end
  end
  return #one < #other
end

-- How many stand before this place, and how many up to and including it.
local function rank_of(key, score, member)
  local low = call('ZCOUNT', key, '-inf', '(' .. score)
  local high = low + call('ZCOUNT', key, score, score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found = call('ZRANGE', key, middle, middle)[1]
    if found == member then return middle, middle + 1 end
    if is_before(found, member) then low = middle + 1 else high = middle end
  end
  return low, low
end

-- Members with these scores, in this order, behind the place, if one is given.
local function stretch(key, order, from, to, score, member, limit)
  local first = call('ZCOUNT', key, '-inf', from == '-inf' and '(-inf' or '(' .. from)
  local last = call('ZCOUNT', key, '-inf', to == '+inf' and '+inf' or '(' .. to) - 1
  if score ~= '' then
    local before, through = rank_of(key, score, member)
    if order == 'latest' then last = math.min(last, before - 1) else first = math.max(first, through) end
  end
  if first > last then return {} end
  if order == 'latest' then
    first = math.max(first, last - limit + 1)
  else
    last = math.min(last, first + limit - 1)
  end
  local found = call('ZRANGE', key, first, last)
  if order ~= 'latest' then return found end
  local turned = {}
  for n = #found, 1, -1 do turned[#turned + 1] = found[n] end
  return turned
end

-- part: read_lines
local histories = {}

local function history_of(member)
  if histories[member] == nil then histories[member] = load_history(member) or false end
  return histories[member]
end

-- Four lines for a line of the history: member, number, line, and what is too long for it.
local function add_line(lines, member, number)
  local history = history_of(member)
  local line = history and get_line(history, number)
  if not line then return false end
  local last = #lines
  lines[last + 1] = member
  lines[last + 2] = number
  lines[last + 3] = line.text
  lines[last + 4] = match(line.text, '\n%+$') and call('HGET', BODIES .. history.name, number) or ''
  return true
end

-- script: list_lines
-- uses: keys moment line history stretch read_lines
-- ARGV: epoch, index ('fires', 'ranges' or 'runs'), member ('' for all), order, from, to, score and entry of the place ('' for the
-- beginning), how many. Answers how many were looked at, score and entry of the last of them, then the lines, four for each.
local keys = { fires = FIRES, ranges = RANGES, runs = RUNS }
local keys_of = { fires = FIRES_OF, ranges = RANGES_OF, runs = RUNS_OF }
local member = ARGV[3]
local key = member == '' and keys[ARGV[2]] or keys_of[ARGV[2]] .. sub(member, 3)
local found = stretch(key, ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9]))
local last = found[#found]
local lines = { digits(#found), last and call('ZSCORE', key, last) or '', last or '' }
for _, entry in ipairs(found) do
  local of = member
  if member == '' then of = match(entry, '^([^\n]*)\n') end
  add_line(lines, of, match(entry, '\n(%d+)$'))
end
return answer(lines)

-- script: list_waiting
-- uses: keys moment line stretch
-- ARGV: epoch, order, from, to, score and entry of the place, how many. Answers how many were looked at, score and entry of the last of them,
-- then for each open fire without a run: entry, line of its schedule.
local found = stretch(WAITING, ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]))
local last = found[#found]
local lines = { digits(#found), last and call('ZSCORE', WAITING, last) or '', last or '' }
for _, entry in ipairs(found) do
  local line = read_schedule(match(entry, '^([^\n]*)\n'))
  if line then
    lines[#lines + 1] = entry
    lines[#lines + 1] = line
  end
end
return answer(lines)

-- script: list_holders
-- uses: keys moment
-- ARGV: epoch. Answers the instances that hold runs.
return answer(call('SMEMBERS', HOLDERS))

-- script: list_held
-- uses: keys moment line
-- ARGV: epoch, instance, cursor. Answers the cursor of the rest, then for each schedule with runs of the instance: member, line, ''. Some
-- may come twice.
local found = call('SSCAN', HELD .. ARGV[2], ARGV[3], 'COUNT', 500)
local lines = { found[1] }
for _, member in ipairs(found[2]) do
  local line = read_schedule(member)
  if line then
    lines[#lines + 1] = member
    lines[#lines + 1] = line
    lines[#lines + 1] = ''
  end
end
return answer(lines)

-- script: find_lines
-- uses: keys moment line history read_lines
-- ARGV: epoch, member, how ('token', 'fire' or 'nonce'), what. Answers the line of the schedule ('' if it does not exist), then the lines of
-- its history with this token, or of this fire, or of the fire with this nonce.
local member, how, what = ARGV[2], ARGV[3], ARGV[4]
local name = sub(member, 3)
local lines = { read_schedule(member) or '' }
local history = history_of(member)
if how == 'fire' and history then
  local due, nonce = match(what, '^([^:]*):(.*)$')
  for number in pairs(lines_of_fire(history, due, nonce)) do add_line(lines, member, number) end
elseif how == 'token' then
  local number = call('HGET', TOKENS .. name, what)
  if number then add_line(lines, member, number) end
elseif history then
  local number = call('HGET', NONCES .. name, what)
  local line = number and get_line(history, number)
  if line then add_line(lines, member, find_fire(history, line.due, what)) end
end
return answer(lines)

-- script: list_notes
-- uses: keys moment
-- ARGV: epoch, and for each run the name of its schedule and its token. Answers what each told, '' for nothing.
local lines = {}
for n = 2, #ARGV, 2 do lines[#lines + 1] = call('HGET', NOTES .. ARGV[n], ARGV[n + 1]) or '' end
return answer(lines)

-- script: list_ends
-- uses: keys moment line history read_lines
-- ARGV: epoch, the number after which to read ('' for none), how many. Answers the number of the last end, whether all ends since were kept,
-- and how many were looked at, then the lines, four for each; fewer if some were deleted.
local last = tonumber(call('HGET', META, 'ends')) or 0
local place = tonumber(ARGV[2])
local dropped = last - call('LLEN', LOG)
local is_kept = not place or (place <= last and place >= dropped)
local lines = { digits(last), is_kept and '1' or '0', '0' }
if not place or not is_kept then return answer(lines) end
local found = call('LRANGE', LOG, place - dropped, place - dropped + ARGV[3] - 1)
lines[3] = digits(#found)
for _, entry in ipairs(found) do add_line(lines, match(entry, '^([^\n]*)\n(.*)$')) end
return answer(lines)
