-- script: load
-- uses: keys moment line
-- ARGV: epoch, whether with settings, members. Answers for each that exists: member, line, settings ('' if they are not wanted).
local lines, members = {}, {}
for n = 3, #ARGV do members[n - 2] = ARGV[n] end
add_schedules(lines, members, ARGV[2] == '1')
return answer(lines)

-- script: due
-- uses: keys moment line
-- ARGV: epoch, patience, how far to look ahead in own buckets, how many, and for each job its name and its buckets. Answers when the next of
-- own and of the others is due ('' for never), then for each schedule: member, line, ''.
--
-- Within a job, what is due is looked through from the longest waiting on, in bites: what is another instance's turn is passed over. A look
-- that would go on for too long says that there may be more in a moment; one that has found enough goes on a little, for when the next are due.
local BITE = 500
local MOST_BITES = 20
local MORE_BITES = 2
local AHEAD = 64
local MOST_AHEAD = 16
local AGAIN_MS = 20
local HELD_MS = 100

local patience, limit = tonumber(ARGV[2]), tonumber(ARGV[4])
-- Own schedules are answered up to this instant. A caller looks again that much before `mine_at`.
local until_at = now + math.floor(tonumber(ARGV[3]))
if is_held() then return answer({ digits(until_at + HELD_MS), '' }) end

local found = {}
local mine_at, others_at = math.huge, math.huge
-- Beyond this, a job may have more that was not looked at.
local horizon = math.huge

local function bucket_of(member)
  return tonumber(sub(member, 1, 2), 16)
end

-- Those of one instant stand in the order of their buckets: the place of the next in one of the wanted buckets, or behind them all.
local function leap(key, place, at, bucket, buckets, wanted)
  local behind = call('ZCOUNT', key, '-inf', digits(at))
  local index = string.find(buckets, wanted, bucket + 2, true)
  if not index then return math.max(place, behind) end
  while place < behind do
    local middle = math.floor((place + behind) / 2)
    if bucket_of(call('ZRANGE', key, middle, middle)[1]) < index - 1 then place = middle + 1 else behind = middle end
  end
  return place
end

local function look(job, buckets)
  local key = DUE .. job
  local due = call('ZCOUNT', key, '-inf', digits(until_at))
  local taken, bites, place = 0, 0, 0
  -- For the remaining ones: whether the first is known, or none can exist.
  local mine_known = not string.find(buckets, '1', 1, true)
  local others_known = not string.find(buckets, '0', 1, true)
  local bites_left = MOST_BITES
  while place < due do
    local bite = math.min(bites == 0 and limit + AHEAD or BITE, BITE, due - place)
    local rows = call('ZRANGE', key, place, place + bite - 1, 'WITHSCORES')
    local at, bucket, mine
    for n = 1, #rows, 2 do
      at, bucket = tonumber(rows[n + 1]), bucket_of(rows[n])
      mine = string.byte(buckets, bucket + 1) == 49
      local wanted = mine or at <= now - patience
      if wanted and taken < limit then
        taken = taken + 1
        found[#found + 1] = { at, rows[n], mine }
      else
        if wanted then horizon = math.min(horizon, at) end
        if mine then
          mine_known, mine_at = true, math.min(mine_at, at)
        else
          others_known, others_at = true, math.min(others_at, at)
        end
        if taken == limit and mine_known and others_known then return end
      end
    end
    place = place + bite
    bites = bites + 1
    bites_left = bites_left - 1
    if taken == limit then bites_left = math.min(bites_left, MORE_BITES) end
    if bites_left <= 0 and place < due then
      if taken == limit then horizon = math.min(horizon, at) end
      if not mine_known then mine_at = math.min(mine_at, until_at + AGAIN_MS) end
      if not others_known then others_at = math.min(others_at, at) end
      return
    end
    if taken < limit then
      if not mine and at > now - patience then place = leap(key, place, at, bucket, buckets, '1') end
    elseif not mine_known and not mine then
      place = leap(key, place, at, bucket, buckets, '1')
    elseif not others_known and mine then
      place = leap(key, place, at, bucket, buckets, '0')
    end
  end
  local rows = call('ZRANGE', key, due, due + AHEAD - 1, 'WITHSCORES')
  local mine_next, others_next
  for n = 1, #rows, 2 do
    local at = tonumber(rows[n + 1])
    if string.byte(buckets, bucket_of(rows[n]) + 1) == 49 then
      mine_next = mine_next or at
    else
      others_next = others_next or at
    end
    if mine_next and others_next then break end
  end
  -- Further ahead than was looked: not before the last one that was.
  if #rows == 2 * AHEAD then
    local last = tonumber(rows[#rows])
    mine_next = mine_next or last
    others_next = others_next or last
  end
  mine_at = math.min(mine_at, mine_next or math.huge)
  others_at = math.min(others_at, others_next or math.huge)
end

local function by_time(one, other)
  return one[1] < other[1]
end

-- The first schedule of each job shows whether anything is due: most of many jobs have nothing.
local heads = {}
for n = 5, #ARGV, 2 do
  local first = call('ZRANGE', DUE .. ARGV[n], 0, 0, 'WITHSCORES')
  if first[2] then heads[#heads + 1] = { tonumber(first[2]), ARGV[n], ARGV[n + 1] } end
end
table.sort(heads, by_time)
local ahead = 0
for _, head in ipairs(heads) do
  local at = head[1]
  if at > until_at then ahead = ahead + 1 end
  -- Nothing in this one or in those behind it comes before; and a few jobs are enough to know when to look again.
  if at >= horizon or ahead > MOST_AHEAD or (at > until_at and at >= mine_at and at >= others_at) then
    mine_at = math.min(mine_at, at)
    others_at = math.min(others_at, at)
    break
  end
  look(head[2], head[3])
end
if #heads > 1 then table.sort(found, by_time) end

local lines, members = { '', '' }, {}
for n, entry in ipairs(found) do
  if n > limit or entry[1] > horizon then
    if entry[3] then mine_at = math.min(mine_at, entry[1]) else others_at = math.min(others_at, entry[1]) end
  else
    members[#members + 1] = entry[2]
  end
end
add_schedules(lines, members, false)
if mine_at < math.huge then lines[1] = digits(mine_at) end
if others_at < math.huge then lines[2] = digits(others_at) end
return answer(lines)

-- script: list_names
-- uses: keys moment
-- ARGV: epoch, index ('', 'job', 'tenant' or 'app'), its name, from ('[' or '(' and a name, or '-'), to, how many. Answers names.
local indexes = { job = NAMES_OF_JOB, tenant = NAMES_OF_TENANT, app = NAMES_OF_APP }
local key = ARGV[2] == '' and NAMES or indexes[ARGV[2]] .. ARGV[3]
return answer(call('ZRANGEBYLEX', key, ARGV[4], ARGV[5], 'LIMIT', 0, ARGV[6]))

-- script: load_app
-- uses: keys moment
-- ARGV: epoch, name. Answers the record, if there is one.
return answer({ call('HGET', APP .. ARGV[2], 'record') or nil })

-- script: save_app
-- uses: keys moment activity
-- ARGV: epoch, name, version, record, and a line of the operator log, if there is one.
local key = APP .. ARGV[2]
local version = tonumber(call('HGET', key, 'version')) or 0
if version ~= ARGV[3] - 1 then return answer({ '0' }) end
call('HSET', key, 'version', ARGV[3], 'record', ARGV[4])
if ARGV[5] then add_activity(unpack(ARGV, 5, 9)) end
count()
return answer({ '1' })
