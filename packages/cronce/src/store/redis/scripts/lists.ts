import { ENDS_KEPT } from '../../store.ts'
import { script } from './script.ts'

/**
 * A stretch of a sorted set, from behind a place on. That place may be gone, and a thousand may share its score, so where it stands
 * is found by halving: names are compared byte by byte, as the server sorts them, whatever its locale says about texts.
 */
const STRETCH_LUA = `
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
  if order == 'latest' then
    local turned = {}
    for n = #found, 1, -1 do turned[#turned + 1] = found[n] end
    return turned
  end
  return found
end

-- How many were looked at, and the score and name of the last: not all of them need have a record.
local function looked(key, members)
  local last = members[#members]
  if not last then return '0\\t\\t' end
  return digits(#members) .. '\\t' .. call('ZSCORE', key, last) .. '\\t' .. string.gsub(last, '\\n', '\\t')
end
`

/**
 * ARGV: epoch, index ('fires', 'ranges' or 'open'), schedule ('' for all), order, from, to, score and member of the place
 * ('' for the beginning), how many. Answers what was looked at, then the fires.
 */
export const LIST_FIRES = script(
  'list-fires',
  STRETCH_LUA,
  `
local keys = { fires = FIRES, ranges = RANGES, open = OPEN }
local keys_of = { fires = FIRES_OF, ranges = RANGES_OF }
local schedule = ARGV[3]
local key = schedule == '' and keys[ARGV[2]] or keys_of[ARGV[2]] .. schedule
local members = stretch(key, ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9]))
local lines = { looked(key, members) }
for _, member in ipairs(members) do
  local of, fire = schedule, member
  if schedule == '' then of, fire = match(member, '^([^\\n]*)\\n(.*)$') end
  local record = call('HGET', SCHEDULE .. of, 'f' .. fire)
  if record then lines[#lines + 1] = of .. '\\t' .. fire .. '\\t' .. record end
end
return answer(lines)
`,
)

/** ARGV: epoch, schedule, nonce. Answers the fire, if there is one. */
export const FIRE_BY_NONCE = script(
  'fire-by-nonce',
  `
local schedule = ARGV[2]
local fire = call('HGET', SCHEDULE .. schedule, 'n' .. ARGV[3])
local found = fire and call('HGET', SCHEDULE .. schedule, 'f' .. fire)
if not found then return answer({}) end
return answer({ schedule .. '\\t' .. fire .. '\\t' .. found })
`,
)

const RUN_LINE_LUA = `
local function run_line(schedule, token)
  local found = call('HMGET', SCHEDULE .. schedule, 'r' .. token, 'm' .. token)
  if not found[1] then return nil end
  return table.concat({ schedule, token, found[1], found[2] or '' }, '\\t')
end
`

/**
 * ARGV: epoch, schedule ('' for all), from, to, score and member of the place, how many. Answers what was looked at, then the runs, the
 * latest first.
 */
export const LIST_RUNS = script(
  'list-runs',
  STRETCH_LUA,
  RUN_LINE_LUA,
  `
local schedule = ARGV[2]
local key = schedule == '' and RUNS or RUNS_OF .. schedule
local members = stretch(key, 'latest', ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]))
local lines = { looked(key, members) }
for _, member in ipairs(members) do
  local of, token = schedule, member
  if schedule == '' then of, token = match(member, '^([^\\n]*)\\n(.*)$') end
  lines[#lines + 1] = run_line(of, token)
end
return answer(lines)
`,
)

/**
 * ARGV: epoch, and what few can match: 'token', schedule, token; 'fire', schedule, fire; 'held', instance; or 'held'. Open runs are as
 * many as the fleet has in hand.
 */
export const FEW_RUNS = script(
  'few-runs',
  RUN_LINE_LUA,
  `
local lines = {}
local function add(schedule, token)
  lines[#lines + 1] = run_line(schedule, token)
end
local function add_held(instance)
  for _, member in ipairs(call('SMEMBERS', HELD .. instance)) do add(match(member, '^([^\\n]*)\\n(.*)$')) end
end
local kind, schedule = ARGV[2], ARGV[3]
if kind == 'token' then
  add(schedule, ARGV[4])
elseif kind == 'fire' then
  local fire = call('HGET', SCHEDULE .. schedule, 'F' .. ARGV[4])
  local tokens = fire and match(fire, '^[01]+ %-?%d* %-?%d* (.*)$') or ''
  for token in string.gmatch(tokens, '%S+') do add(schedule, token) end
elseif ARGV[3] then
  add_held(ARGV[3])
else
  for _, instance in ipairs(call('SMEMBERS', HOLDERS)) do add_held(instance) end
end
return answer(lines)
`,
)

/**
 * ARGV: epoch, the number after which to read ('' for none), how many. Answers the number of the last end and whether all ends since
 * were kept, then the ends: `r` and a run, `f` and a fire, or `-` if its record has been deleted.
 */
export const LIST_ENDS = script(
  'list-ends',
  RUN_LINE_LUA,
  `
local last = tonumber(call('HGET', META, 'ends')) or 0
local place = tonumber(ARGV[2])
local is_kept = not place or (place <= last and place >= last - ${ENDS_KEPT})
local lines = { digits(last), is_kept and '1' or '0' }
if not place or not is_kept then return answer(lines) end
for _, entry in ipairs(call('XRANGE', ENDS, digits(place + 1) .. '-0', '+', 'COUNT', ARGV[3])) do
  local kind, member = entry[2][1], entry[2][2]
  local of, name = match(member, '^([^\\n]*)\\n(.*)$')
  local record
  if kind == 'r' then
    record = run_line(of, name)
  else
    record = call('HGET', SCHEDULE .. of, 'f' .. name)
    record = record and of .. '\\t' .. name .. '\\t' .. record
  end
  lines[#lines + 1] = record and kind .. record or '-'
end
return answer(lines)
`,
)
