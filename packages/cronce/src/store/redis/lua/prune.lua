-- script: prune
-- uses: keys moment line history instances activity
-- ARGV: epoch, how many. Answers how many fires went, and whether ('1') the script has stopped before it has looked at all that is expiring.
--
-- Lines that one script looks at, of all schedules. A read of 200 places, of which all may be empty, counts as READ_COST lines.
local LOOKS = 10000
local READ_COST = 10
-- Counts of earlier days are not kept.
local OLDEST_DAY = digits(math.floor(now / DAY_MS) - 100)
local limit = tonumber(ARGV[2])
local deleted, looks = 0, 0

-- Fires of a schedule whose time is up. `expires` becomes exact once all of its lines were looked at. A script that stops before that
-- remembers the place, and puts the schedule behind the others that are expiring.
local function prune_schedule(member)
  local history = load_history(member)
  if not history then
    call('ZREM', EXPIRING, member)
    call('HDEL', PRUNING, member)
    return
  end
  local from, next_at = match(call('HGET', PRUNING, member) or '', '^(%d+) (%S+)$')
  local is_resumed = from ~= nil
  from, next_at = tonumber(from) or history.first, tonumber(next_at) or math.huge
  local found = {}
  local rest = walk(history, from, function(text, number)
    if (number - from) % 200 == 0 then looks = looks + READ_COST end
    if looks >= LOOKS then return false end
    if text == '' then return true end
    looks = looks + 1
    local due, ended, keeps = match(text, FINAL)
    if not due then return true end
    local expires = due + ended + keeps
    if expires > now then
      next_at = math.min(next_at, expires)
      return true
    end
    if deleted + #found == limit then return false end
    found[#found + 1] = { parse_line(text), number }
    return true
  end)
  delete_all(history, found)
  deleted = deleted + #found
  if rest then
    call('HSET', PRUNING, member, digits(rest) .. ' ' .. (next_at == math.huge and '-' or digits(next_at)))
    call('ZADD', EXPIRING, digits(now), member)
  else
    if is_resumed then call('HDEL', PRUNING, member) end
    history.expires = next_at == math.huge and '-' or digits(next_at)
    if next_at == math.huge then call('ZREM', EXPIRING, member) else call('ZADD', EXPIRING, history.expires, member) end
  end
  if not rest or #found > 0 then save_history(history) end
end

local members = call('ZRANGEBYSCORE', EXPIRING, '-inf', digits(now), 'LIMIT', 0, limit + 100)
local done = 0
while done < #members and deleted < limit and looks < LOOKS do
  done = done + 1
  prune_schedule(members[done])
end
local is_stopped = deleted < limit and (looks >= LOOKS or done < #members or #members == limit + 100)
for _, id in ipairs(call('ZRANGEBYSCORE', GONE, '-inf', digits(now - DAY_MS), 'LIMIT', 0, limit + 100)) do
  if is_forgettable(id) then
    call('DEL', INSTANCE .. id)
    call('ZREM', GONE, id)
  end
end
for _, day in ipairs(call('ZRANGEBYSCORE', DAYS, '-inf', '(' .. OLDEST_DAY)) do
  call('UNLINK', COUNTS .. day)
  call('ZREM', DAYS, day)
end
for _, id in ipairs(call('ZRANGEBYSCORE', ACTIVITY_ENDS, '-inf', digits(now), 'LIMIT', 0, limit)) do delete_activity(id) end
save_regular()
count()
return answer({ digits(deleted), is_stopped and '1' or '0' })

-- script: erase
-- uses: keys moment line history activity
-- ARGV: epoch, member, how many. Answers 'exists', or how many fires went; behind the last one, how many lines of the operator log.
local member, limit = ARGV[2], tonumber(ARGV[3])
local name = sub(member, 3)
local history, edition = load_history(member)
if history and edition ~= '0' then return answer({ 'exists' }) end
local found = {}
if history then
  walk(history, history.first, function(text, number)
    if #found == limit then return false end
    if text ~= '' then found[#found + 1] = { parse_line(text), number } end
    return true
  end)
  delete_all(history, found)
  save_history(history)
  save_regular()
end
-- Steps that have outlived their fire.
local stepped = #found == 0 and call('SRANDMEMBER', STEPPED .. name, limit) or {}
for _, fire in ipairs(stepped) do delete_steps(name, fire) end
local logged = {}
if #found + #stepped == 0 then
  call('UNLINK', NOTES .. name)
  logged = call('ZRANGE', ACTIVITY_OF .. name, 0, limit - 1)
  for _, id in ipairs(logged) do delete_activity(id) end
end
count()
return answer({ digits(#found + #stepped + #logged) })
