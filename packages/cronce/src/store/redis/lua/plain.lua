-- part: plain
-- A plain change is that of most fires: a schedule without open fires gets one that runs, or loses it and gets a line of history. The caller
-- knows the whole line of the schedule, and sends the next one; the head of the line must be as it was.
--
-- ARGV: as for `apply`, then epoch, the time that must have come, and groups of changes: job, shard, how many, and the changes.
-- Answers a letter for each change: a (applied), g (ask again, in the general way).

-- For each group: job, hash of the shard, how many, where its changes begin.
local function each_group(from, fields, visit)
  local at = from
  while at < #ARGV do
    local times = tonumber(ARGV[at + 2])
    visit(ARGV[at], STATES .. ARGV[at + 1], times, at + 3)
    at = at + 3 + times * fields
  end
end

-- Changes that fit: `visit` is called with the place of the first argument of each. All begin with member, head, line, wakeAt ('' if it
-- stays as it is).
local function write_lines(from, fields, letters, visit)
  each_group(from, fields, function(job, shard, times, first)
    local names, values, wakes, sleeps = {}, {}, {}, {}
    for n = 1, times do names[n] = sub(ARGV[first + (n - 1) * fields], 3) end
    local known = call('HMGET', shard, unpack(names))
    for n = 1, times do
      local at = first + (n - 1) * fields
      local head = ARGV[at + 1]
      if known[n] and sub(known[n], 1, #head) == head then
        letters[#letters + 1] = 'a'
        values[#values + 1] = names[n]
        values[#values + 1] = ARGV[at + 2]
        local wake = ARGV[at + 3]
        if wake == '-' then
          sleeps[#sleeps + 1] = ARGV[at]
        elseif wake ~= '' then
          wakes[#wakes + 1] = wake
          wakes[#wakes + 1] = ARGV[at]
        end
        visit(at)
      else
        letters[#letters + 1] = 'g'
      end
    end
    if #values > 0 then call('HSET', shard, unpack(values)) end
    if #wakes > 0 then call('ZADD', DUE .. job, unpack(wakes)) end
    if #sleeps > 0 then call('ZREM', DUE .. job, unpack(sleeps)) end
  end)
end

-- A change that does not fit as a whole takes the general path, which reports what is wrong with it.
local function is_fit()
  return ARGV[9] == digits(epoch) and (ARGV[10] == '' or now >= tonumber(ARGV[10]))
end

-- script: claim
-- uses: keys moment line history held log renew admit plain
-- Changes: member, head, line, wakeAt. All runs are the claimant's.
local refusal = refuse(ARGV[2])
if refusal then return answer({ refusal }) end
if not is_fit() then return answer({ 'g' }) end
local letters, members = {}, {}
write_lines(11, 4, letters, function(at) members[#members + 1] = ARGV[at] end)
if #members > 0 then
  call('SADD', HELD .. ARGV[2], unpack(members))
  call('SADD', HOLDERS, ARGV[2])
end
finish(#members > 0, ARGV[2])
return answer({ table.concat(letters) })

-- script: settle
-- uses: keys moment line history held log renew admit plain
-- Before the groups: the instance of all runs, the earliest and the latest of all times in the lines. Changes: member, head, line, wakeAt,
-- number, line of history, hour and reason to count, when the first line may go ('' if that is known).
local refusal = refuse(ARGV[2])
if refusal then return answer({ refusal }) end
-- Lines that are not regular are indexed, which only the general way does.
if not is_fit() or not is_recent(tonumber(ARGV[12])) or not is_recent(tonumber(ARGV[13])) then return answer({ 'g' }) end
local letters, members, expiring = {}, {}, {}
write_lines(14, 8, letters, function(at)
  local member, number, hour = ARGV[at], ARGV[at + 4], ARGV[at + 6]
  call('RPUSH', HISTORY .. sub(member, 3), ARGV[at + 5])
  counts[hour] = (counts[hour] or 0) + 1
  members[#members + 1] = member
  log[#log + 1] = member
  log[#log + 1] = number
  if ARGV[at + 7] ~= '' then
    expiring[#expiring + 1] = ARGV[at + 7]
    expiring[#expiring + 1] = member
  end
end)
if #members > 0 then
  regular = #members
  call('SREM', HELD .. ARGV[11], unpack(members))
  touched[ARGV[11]] = true
  if #expiring > 0 then call('ZADD', EXPIRING, unpack(expiring)) end
end
finish(#members > 0, ARGV[2])
return answer({ table.concat(letters) })
