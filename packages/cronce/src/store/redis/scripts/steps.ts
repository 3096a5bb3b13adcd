import { script } from './script.ts'

/** Of runs that are open, and whose instance is known, and has neither been declared dead nor left: a parked run has none. */
const LIVE_LUA = `
local function fire_of_live_run(schedule, token)
  local found = call('HGET', SCHEDULE .. schedule, 'R' .. token)
  if not found then return nil end
  local open, fire, instance = match(found, '^([01])\\n([^\\n]*)\\n([^\\n]*)\\n')
  if open == '0' then return nil end
  local row = call('HMGET', INSTANCE .. instance, 'state', 'gone')
  if not row[1] or row[2] then return nil end
  return fire
end
`

/**
 * ARGV: epoch, kind, schedule, fire, step, token, rerun or failed, result. Answers the kind of answer, and what belongs to it.
 * A step is: state, token, begunAt, endedAt, and LF and its result.
 */
export const STEP = script(
  'step',
  LIVE_LUA,
  `
local kind, schedule, fire, step, token = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local key = STEPS .. schedule .. '\\n' .. fire
local known = call('HGET', key, step)
local state, by, begun, result, _
if known then state, by, begun, _, result = match(known, '^(%S+) (%S+) (%S+) (%S*)\\n(.*)$') end

local function finish()
  call('HSET', key, step, (ARGV[7] == '1' and 'failed ' or 'done ') .. by .. ' ' .. begun .. ' ' .. digits(now) .. '\\n' .. ARGV[8])
  count()
  return answer({ 'applied' })
end

if kind == 'begin' then
  if fire_of_live_run(schedule, token) ~= fire then return answer({ 'stale' }) end
  if state == 'done' then return answer({ 'done', result }) end
  if state == 'begun' and by == token then return answer({ 'duplicate' }) end
  if state == 'begun' and ARGV[7] ~= '1' then return answer({ 'unknown', by }) end
  call('HSET', key, step, 'begun ' .. token .. ' ' .. digits(now) .. ' \\nnull')
  call('SADD', STEPPED .. schedule, fire)
  count()
  return answer({ 'applied' })
end
if not known then return answer({ 'not-found' }) end
if kind == 'end' then
  if by ~= token then return answer({ 'stale' }) end
elseif state == 'done' then
  return answer({ 'done', result })
end
if state ~= 'begun' then return answer({ 'duplicate' }) end
return finish()
`,
)

/** ARGV: epoch, schedule, fire, cursor, how many. Answers the cursor of the rest, then name, tab, step; some may come twice. */
export const LIST_STEPS = script(
  'list-steps',
  `
local found = call('HSCAN', STEPS .. ARGV[2] .. '\\n' .. ARGV[3], ARGV[4], 'COUNT', ARGV[5])
local lines = { found[1] }
for n = 1, #found[2], 2 do
  local head, result = match(found[2][n + 1], '^([^\\n]*)\\n(.*)$')
  lines[#lines + 1] = found[2][n] .. '\\t' .. head .. '\\t' .. result
end
return answer(lines)
`,
)

/** ARGV: epoch, and for each note schedule, token and what is told. Answers the tokens that were refused. */
export const ANNOTATE = script(
  'annotate',
  LIVE_LUA,
  `
local stale = {}
for n = 2, #ARGV, 3 do
  if fire_of_live_run(ARGV[n], ARGV[n + 1]) then
    call('HSET', SCHEDULE .. ARGV[n], 'm' .. ARGV[n + 1], ARGV[n + 2])
  else
    stale[#stale + 1] = ARGV[n + 1]
  end
end
count()
return answer(stale)
`,
)
