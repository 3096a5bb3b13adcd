-- part: activity
-- A line is five arguments: id, time, schedule ('' for anything else), when it may go, and the line as JSON.
local function add_activity(id, at, schedule, ends, line)
  call('HSET', ACTIVITY, id, schedule .. '\n' .. line)
  call('ZADD', ACTIVITY_AT, at, id)
  call('ZADD', ACTIVITY_ENDS, ends, id)
  if schedule ~= '' then call('ZADD', ACTIVITY_OF .. schedule, at, id) end
end

local function delete_activity(id)
  local schedule = match(call('HGET', ACTIVITY, id) or '', '^([^\n]*)\n')
  if schedule and schedule ~= '' then call('ZREM', ACTIVITY_OF .. schedule, id) end
  call('HDEL', ACTIVITY, id)
  call('ZREM', ACTIVITY_AT, id)
  call('ZREM', ACTIVITY_ENDS, id)
end

-- script: add_activity
-- uses: keys moment activity
-- ARGV: epoch, a line.
add_activity(ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
count()
return answer({})

-- script: list_activity
-- uses: keys moment
-- ARGV: epoch, schedule ('' for all), the latest and the earliest time, how many to pass over, how many. Answers lines, the latest first.
local index = ARGV[2] == '' and ACTIVITY_AT or ACTIVITY_OF .. ARGV[2]
local ids = call('ZREVRANGEBYSCORE', index, ARGV[3], ARGV[4], 'LIMIT', ARGV[5], ARGV[6])
if #ids == 0 then return answer({}) end
local lines = call('HMGET', ACTIVITY, unpack(ids))
for n, line in ipairs(lines) do lines[n] = line and match(line, '^[^\n]*\n(.*)$') or '' end
return answer(lines)
