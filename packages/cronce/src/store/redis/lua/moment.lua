-- part: moment
-- The store's clock, and which history of the store this is. ARGV[1]: the highest epoch that the caller has seen, the server that began
-- it, the highest mark that the caller has seen in it, and a `w` if the answer is to wait for replicas: only a connection that has written
-- something waits for them.
--
-- `run_id` differs for every process of every server, and `master_replid` changes with every promotion, also if a primary is demoted and
-- promoted again in the same process. If they are not those that wrote last, the server was restarted or replaced: what was
-- acknowledged may be lost, so the epoch moves up, and nothing that was decided before is written. Every change counts in `mark`: a mark
-- below the one that the caller has seen in the same epoch proves a rollback, also if the server hides its identifiers. And
-- `bases` keeps the mark at which each of the last epochs began, and on which server: a process that has seen a higher mark in an earlier
-- epoch, or that epoch on another server, knows that something was lost. An epoch is never below the hours since 2025, so that tokens grow
-- also if a server has lost everything.
local FORMAT = '2'
local HOUR_MS = 3600000
local YEAR_2025 = 1735689600000
local BASES = 16

local seen, seen_run, seen_mark, waits = match(ARGV[1], '^(%d+):(%w*):(%d+):(w?)$')
seen, seen_mark = tonumber(seen), tonumber(seen_mark)
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local meta = call('HMGET', META, 'epoch', 'run', 'mark', 'held', 'bases', 'format', 'clock')
if meta[6] and meta[6] ~= FORMAT then return redis.error_reply('CRONCEFORMAT ' .. meta[6]) end
local epoch = tonumber(meta[1]) or 0
local mark = tonumber(meta[3]) or 0
local held = tonumber(meta[4]) or 0
-- When the log was last written to. It never goes back, even if the server's clock does.
local clock = math.max(tonumber(meta[7]) or 0, now)

local function move(run)
  epoch = math.max(epoch, seen) + 1
  epoch = math.max(epoch, math.floor((now - YEAR_2025) / HOUR_MS))
  local bases = {}
  for base in gmatch(meta[5] or '', '%S+') do bases[#bases + 1] = base end
  bases[#bases + 1] = digits(epoch) .. ':' .. digits(mark) .. ':' .. run
  meta[5] = table.concat(bases, ' ', math.max(1, #bases - BASES + 1))
  held = 0
  -- Live instances may know what was lost: no claims until they have reported it. None of them could renew, so all leases restart.
  for _, id in ipairs(call('SMEMBERS', LIVE)) do
    held = 1
    local lease = tonumber(call('HGET', INSTANCE .. id, 'lease')) or 0
    call('HSET', INSTANCE .. id, 'ends', digits(now + lease))
  end
  call('HSET', META, 'epoch', digits(epoch), 'run', run, 'bases', meta[5], 'held', digits(held), 'mark', digits(mark), 'format', FORMAT)
end

-- Two calls, since Redis 6.2 answers one section at a time.
local process = sub(match(call('INFO', 'server'), 'run_id:(%w+)') or 'unknown', 1, 10)
local promotion = sub(match(call('INFO', 'replication'), 'master_replid:(%w+)') or 'unknown', 1, 10)
local run = process .. promotion
local is_rolled_back = epoch == seen and mark < seen_mark
if meta[2] ~= run or epoch < seen or (epoch == seen and run ~= seen_run) or is_rolled_back then move(run) end
if waits == 'w' then call('HSET', META, 'waited', digits(now)) end

-- Whether claims wait for an instance that has not settled in this epoch.
local function is_held()
  if held == 0 then return false end
  for _, id in ipairs(call('SMEMBERS', LIVE)) do
    local row = call('HMGET', INSTANCE .. id, 'settled', 'ends')
    if (tonumber(row[1]) or 0) < epoch and (tonumber(row[2]) or 0) > now then return true end
  end
  held = 0
  call('HSET', META, 'held', '0')
  return false
end

-- A hint, after everything is written: the writes of a user without the right to publish still count.
local function tell(how, channel, message)
  redis.pcall(how, channel, message)
end

local function count()
  mark = call('HINCRBY', META, 'mark', 1)
end

-- The lines, followed by the fields that every answer has.
local function answer(lines)
  lines[#lines + 1] = digits(now) .. ' ' .. digits(epoch) .. ' ' .. digits(mark) .. ' ' .. run
  return lines
end
