-- script: step
-- uses: keys moment line
-- ARGV: epoch, kind, member, fire, step, token, rerun or failed, result. Answers the kind of answer, and what belongs to it.
-- A step is: state, token, begunAt, endedAt, and LF and its result.
local kind, member, fire, step, token = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local name = sub(member, 3)
local key = STEPS .. name .. '\n' .. fire
local known = call('HGET', key, step)
local state, by, begun, result, _
if known then state, by, begun, _, result = match(known, '^(%S+) (%S+) (%S+) (%S*)\n(.*)$') end

if kind == 'begin' then
  if find_live_run(member, token) ~= fire then return answer({ 'stale' }) end
  if state == 'done' then return answer({ 'done', result }) end
  if state == 'begun' and by == token then return answer({ 'duplicate' }) end
  if state == 'begun' and ARGV[7] ~= '1' then return answer({ 'unknown', by }) end
  call('HSET', key, step, 'begun ' .. token .. ' ' .. digits(now) .. ' \nnull')
  call('SADD', STEPPED .. name, fire)
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
call('HSET', key, step, (ARGV[7] == '1' and 'failed ' or 'done ') .. by .. ' ' .. begun .. ' ' .. digits(now) .. '\n' .. ARGV[8])
count()
return answer({ 'applied' })

-- script: list_steps
-- uses: keys moment
-- ARGV: epoch, name of the schedule, fire, cursor, how many. Answers the cursor of the rest, then name, tab, step; some may come twice.
local found = call('HSCAN', STEPS .. ARGV[2] .. '\n' .. ARGV[3], ARGV[4], 'COUNT', ARGV[5])
local lines = { found[1] }
for n = 1, #found[2], 2 do
  local head, result = match(found[2][n + 1], '^([^\n]*)\n(.*)$')
  lines[#lines + 1] = found[2][n] .. '\t' .. head .. '\t' .. result
end
return answer(lines)

-- script: annotate
-- uses: keys moment line
-- ARGV: epoch, and for each note member, token and text. Answers the places of the notes that were refused.
local stale = {}
for n = 2, #ARGV, 3 do
  if find_live_run(ARGV[n], ARGV[n + 1]) then
    call('HSET', NOTES .. sub(ARGV[n], 3), ARGV[n + 1], ARGV[n + 2])
  else
    stale[#stale + 1] = digits((n - 2) / 3)
  end
end
count()
return answer(stale)
