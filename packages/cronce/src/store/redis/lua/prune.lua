-- script: prune
-- uses: keys moment line history instances
-- ARGV: epoch, how many. Answers how many fires went.
local LOOKS = 20000
-- Counts of earlier days are not kept.
local OLDEST_DAY = digits(math.floor(now / DAY_MS) - 100)
local limit = tonumber(ARGV[2])
local deleted = 0

-- Fires of a schedule whose time is up. `expires` becomes exact once all of its lines were looked at.
local function prune_schedule(member)
  local history = load_history(member)
  if not history then
    call('ZREM', EXPIRING, member)
    return
  end
  local found, next_at = {}, math.huge
  local is_whole = walk(history, LOOKS, function(line, number)
    if not line.is_final then return true end
    if line.expires > now then
      next_at = math.min(next_at, line.expires)
      return true
    end
    if deleted + #found == limit then return false end
    found[#found + 1] = { line, number }
    return true
  end)
  delete_all(history, found)
  deleted = deleted + #found
  if is_whole and next_at == math.huge then
    history.expires = '-'
    call('ZREM', EXPIRING, member)
  elseif is_whole then
    history.expires = digits(next_at)
    call('ZADD', EXPIRING, history.expires, member)
  end
  save_history(history)
end

for _, member in ipairs(call('ZRANGEBYSCORE', EXPIRING, '-inf', digits(now), 'LIMIT', 0, limit + 100)) do
  if deleted == limit then break end
  prune_schedule(member)
end
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
save_regular()
count()
return answer({ digits(deleted) })

-- script: erase
-- uses: keys moment line history
-- ARGV: epoch, member, how many. Answers 'exists', or how many fires went.
local member, limit = ARGV[2], tonumber(ARGV[3])
local name = sub(member, 3)
local history, edition = load_history(member)
if history and edition ~= '0' then return answer({ 'exists' }) end
local found = {}
if history then
  walk(history, math.huge, function(line, number)
    if #found == limit then return false end
    found[#found + 1] = { line, number }
    return true
  end)
  delete_all(history, found)
  save_history(history)
  save_regular()
end
-- Steps that have outlived their fire.
local stepped = #found == 0 and call('SRANDMEMBER', STEPPED .. name, limit) or {}
for _, fire in ipairs(stepped) do delete_steps(name, fire) end
if #found + #stepped == 0 then call('UNLINK', NOTES .. name) end
count()
return answer({ digits(#found + #stepped) })
