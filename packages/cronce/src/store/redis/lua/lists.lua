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

-- How many entries are before this place, and how many up to and including it.
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
local function add_text(lines, history, number, text)
  local last = #lines
  lines[last + 1] = history.member
  lines[last + 2] = number
  lines[last + 3] = text
  lines[last + 4] = match(text, '\n%+$') and call('HGET', BODIES .. history.name, number) or ''
end

local function add_line(lines, member, number, is_wanted)
  local history = history_of(member)
  local line = history and get_line(history, number)
  if line and (not is_wanted or is_wanted(line)) then add_text(lines, history, number, line.text) end
end

local function is_regular(line)
  return line.is_regular
end

-- script: list_lines
-- uses: keys moment line history stretch read_lines
-- ARGV: epoch, index ('fires' or 'ranges'), member ('' for all), order, from, to, score and entry of the place ('' for the
-- beginning), how many. Answers how many were looked at, score and entry of the last of them, then the lines, four for each.
local member = ARGV[3]
local key
if ARGV[2] == 'fires' then
  key = member == '' and FIRES or FIRES_OF .. sub(member, 3)
else
  key = member == '' and RANGES or RANGES_OF .. sub(member, 3)
end
local found = stretch(key, ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9]))
local last = found[#found]
local lines = { digits(#found), last and call('ZSCORE', key, last) or '', last or '' }
for _, entry in ipairs(found) do
  local of = member
  if member == '' then of = match(entry, '^([^\n]*)\n') end
  add_line(lines, of, match(entry, '\n(%d+)$'))
end
return answer(lines)

-- script: list_open
-- uses: keys moment line stretch
-- ARGV: epoch, order, from, to, score and entry of the place, how many fires without a run ('0' for none), the instance of the runs (after
-- '+'; '' for all). Answers how many fires without a run there are in this bite, score and entry of the last of them, then for each schedule
-- with open fires up to that one: member, line, ''. One script reads both, since a fire may move between them at any time.
local order, limit = ARGV[2], tonumber(ARGV[7])
local found = limit > 0 and stretch(WAITING, order, ARGV[3], ARGV[4], ARGV[5], ARGV[6], limit) or {}
local last = found[#found]
local lines = { digits(#found), last and call('ZSCORE', WAITING, last) or '', last or '' }
local members, is_listed = {}, {}

local function add(member)
  if is_listed[member] then return end
  is_listed[member] = true
  members[#members + 1] = member
end

-- Due times of this bite, both included.
local earliest, latest = tonumber(ARGV[3]) or -math.huge, tonumber(ARGV[4]) or math.huge
local ends_at = limit > 0 and #found == limit and tonumber(lines[2]) or nil
if order == 'latest' then
  earliest, latest = math.max(earliest, ends_at or earliest), math.min(latest, tonumber(ARGV[5]) or latest)
else
  earliest, latest = math.max(earliest, tonumber(ARGV[5]) or earliest), math.min(latest, ends_at or latest)
end

local function is_running_here(line)
  for _, fire in ipairs(line and open_fires(line) or {}) do
    local due = tonumber(fire.due)
    if fire.token ~= '-' and due >= earliest and due <= latest then return true end
  end
  return false
end

for _, entry in ipairs(found) do add(match(entry, '^([^\n]*)\n')) end
for _, holder in ipairs(ARGV[8] == '' and call('SMEMBERS', HOLDERS) or { sub(ARGV[8], 2) }) do
  for _, member in ipairs(call('SMEMBERS', HELD .. holder)) do
    if not is_listed[member] and is_running_here(read_schedule(member)) then add(member) end
  end
end
add_schedules(lines, members, false)
return answer(lines)

-- script: find_lines
-- uses: keys moment line history read_lines
-- ARGV: epoch, member, how ('fire' or 'nonce'), what. Answers the line of the schedule ('' if it does not exist), then the lines of its
-- history of this fire, or of the fire with this nonce.
local member, how, what = ARGV[2], ARGV[3], ARGV[4]
local lines = { read_schedule(member) or '' }
local history = history_of(member)
if not history then return answer(lines) end
local due, nonce = match(what, '^([^:]*):(.*)$')
if how == 'nonce' then
  local number = call('HGET', NONCES .. history.name, what)
  local line = number and get_line(history, number)
  due, nonce = line and line.due, what
end
if due then
  for number in pairs(lines_of_fire(history, due, nonce)) do add_line(lines, member, number) end
end
return answer(lines)

-- script: list_notes
-- uses: keys moment
-- ARGV: epoch, and for each run the name of its schedule and its token. Answers what each told, '' for nothing.
local lines = {}
for n = 2, #ARGV, 2 do lines[#lines + 1] = call('HGET', NOTES .. ARGV[n], ARGV[n + 1]) or '' end
return answer(lines)

-- script: find_token
-- uses: keys moment line history read_lines
-- ARGV: epoch, member, token, the number before which to look ('' for the first look). Answers the line of the schedule ('' if it does not
-- exist), the number before which to go on looking ('' for no more), then the line of the run with this token, if it was found.
local LOOKS = 2000
local member, token = ARGV[2], ' ' .. ARGV[3] .. ' '
local lines = { read_schedule(member) or '', '' }
local history = history_of(member)
if not history then return answer(lines) end
local last = ARGV[4] == '' and history.length or math.min(history.length, ARGV[4] - history.first)
local first = math.max(0, last - LOOKS)
if last <= 0 then return answer(lines) end
local found = call('LRANGE', history.key, first, last - 1)
for n = #found, 1, -1 do
  if string.find(found[n], token, 1, true) and parse_line(found[n]).token == ARGV[3] then
    add_text(lines, history, digits(history.first + first + n - 1), found[n])
    return answer(lines)
  end
end
if first > 0 then lines[2] = digits(history.first + first) end
return answer(lines)

-- script: list_regular
-- uses: keys moment line history read_lines
-- ARGV: epoch, member, order, a time, the number at which to go on ('' for the first look), how many. The first look is at the last regular
-- line that may be due at this time or before, or at the first at this time or later. Answers the number at which to go on ('' for
-- no more), then lines.
local lines = { '' }
local history = history_of(ARGV[2])
if not history then return answer(lines) end
local most = tonumber(ARGV[6])
local first, last
if ARGV[3] == 'latest' then
  last = ARGV[5] == '' and (ARGV[4] == '' and history.length or place_above(history, tonumber(ARGV[4]))) - 1 or ARGV[5] - history.first
  last = math.min(last, history.length - 1)
  first = math.max(0, last - most + 1)
  if first > 0 then lines[1] = digits(history.first + first - 1) end
else
  first = ARGV[5] == '' and (ARGV[4] == '' and 0 or place_below(history, tonumber(ARGV[4]))) or math.max(0, ARGV[5] - history.first)
  last = first + most - 1
  if last < history.length - 1 then lines[1] = digits(history.first + last + 1) end
end
if last < first then return answer({ '' }) end
local found = call('LRANGE', history.key, first, last)
local from, to, step = 1, #found, 1
if ARGV[3] == 'latest' then from, to, step = #found, 1, -1 end
for n = from, to, step do
  if match(found[n], '^%u') then add_text(lines, history, digits(history.first + first + n - 1), found[n]) end
end
return answer(lines)

-- script: list_log
-- uses: keys moment line history read_lines
-- ARGV: epoch, order, the id from which to read, how many lines, about. Answers the id of the last entry that was read ('' for no more), then
-- the regular lines.
local ENTRIES = 8
local is_latest = ARGV[2] == 'latest'
local found
if is_latest then
  found = call('XREVRANGE', LOG, ARGV[3], '-', 'COUNT', ENTRIES)
else
  found = call('XRANGE', LOG, ARGV[3], '+', 'COUNT', ENTRIES)
end
local lines = { '' }
for index, entry in ipairs(found) do
  local refs = entry[2]
  for n = 1, #refs, 2 do add_line(lines, refs[n], refs[n + 1], is_regular) end
  if index == ENTRIES or (#lines - 1) / 4 >= tonumber(ARGV[4]) then
    lines[1] = entry[1]
    break
  end
end
return answer(lines)

-- script: list_ends
-- uses: keys moment line history read_lines
-- ARGV: epoch, the id after which to read ('' for none), how many entries. Answers the id of the last entry, whether all entries since were
-- kept, the id of the last one that was read ('' for no more) and how many lines they name, then the lines; fewer if some were deleted.
local function is_later(one, other)
  local one_ms, one_seq = match(one, '^(%d+)%-(%d+)$')
  local other_ms, other_seq = match(other, '^(%d+)%-(%d+)$')
  one_ms, other_ms = tonumber(one_ms), tonumber(other_ms)
  return one_ms > other_ms or (one_ms == other_ms and tonumber(one_seq) > tonumber(other_seq))
end

local newest = call('XREVRANGE', LOG, '+', '-', 'COUNT', 1)[1]
local dropped = call('HGET', META, 'dropped') or '0-0'
local last = newest and newest[1] or dropped
local place = ARGV[2]
local is_kept = place == '' or not (is_later(place, last) or is_later(dropped, place))
local lines = { last, is_kept and '1' or '0', '', '0' }
if place == '' or not is_kept then return answer(lines) end
local found = call('XRANGE', LOG, place, '+', 'COUNT', ARGV[3] + 1)
local refs = 0
for index, entry in ipairs(found) do
  if entry[1] ~= place then
    refs = refs + #entry[2] / 2
    for n = 1, #entry[2], 2 do add_line(lines, entry[2][n], entry[2][n + 1]) end
  end
  if refs >= 500 or index == ARGV[3] + 1 then
    if entry[1] ~= last then lines[3] = entry[1] end
    break
  end
end
lines[4] = digits(refs)
return answer(lines)

-- script: count_fires
-- uses: keys moment
-- ARGV: epoch, the first and the last day. Answers for each day: its number, then a text of hours and reasons and counts.
local lines = {}
for _, day in ipairs(call('ZRANGEBYSCORE', DAYS, ARGV[2], ARGV[3])) do
  lines[#lines + 1] = day
  lines[#lines + 1] = table.concat(call('HGETALL', COUNTS .. day), ' ')
end
return answer(lines)
