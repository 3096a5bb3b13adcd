/**
 * The store's clock, and which history of the store this is. ARGV[1] is the highest epoch that the caller has seen, the
 * server that began it, and a `w` if the answer is to wait for replicas: they are waited for only by a connection that has written something.
 *
 * `run_id` is another one in every process of every server. Where it is not the one that wrote last, the server was restarted, or
 * another one took its place: what was acknowledged may be lost, so the epoch moves, and nothing that was decided before is
 * written. Every change counts in `mark`, and `bases` keeps the mark at which each of the last epochs began, and on which server: whoever
 * has seen a higher mark in an earlier epoch, or that epoch on another server, knows that something was lost. An epoch is never below the hours since 2025, so that tokens grow
 * also if a server has lost everything and nobody is left who remembers.
 */
export const MOMENT_LUA = `
local HOUR_MS = 3600000
local YEAR_2025 = 1735689600000
local BASES = 16

local seen, seen_run, waits = match(ARGV[1], '^(%d+):(%w*):(w?)$')
seen = tonumber(seen)
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local meta = call('HMGET', META, 'epoch', 'run', 'mark', 'held', 'bases')
local epoch = tonumber(meta[1]) or 0
local mark = tonumber(meta[3]) or 0
local held = tonumber(meta[4]) or 0

-- Numbers of more than 14 digits would be rounded.
local function digits(number)
  return string.format('%.0f', number)
end

local function move(run)
  local from = epoch
  epoch = math.max(epoch, seen) + 1
  epoch = math.max(epoch, math.floor((now - YEAR_2025) / HOUR_MS))
  local bases = {}
  for base in string.gmatch(meta[5] or '', '%S+') do bases[#bases + 1] = base end
  bases[#bases + 1] = digits(epoch) .. ':' .. digits(mark) .. ':' .. run
  meta[5] = table.concat(bases, ' ', math.max(1, #bases - BASES + 1))
  held = 0
  -- Whoever lives may know of what was lost: nobody claims until they have said so. None of them could renew: all leases begin anew.
  for _, id in ipairs(call('SMEMBERS', LIVE)) do
    held = 1
    local lease = tonumber(call('HGET', INSTANCE .. id, 'lease')) or 0
    call('HSET', INSTANCE .. id, 'ends', digits(now + lease))
  end
  call('HSET', META, 'epoch', digits(epoch), 'run', run, 'bases', meta[5], 'held', digits(held), 'mark', digits(mark))
  if from == 0 then call('HSETNX', META, 'format', '1') end
end

local run = string.sub(match(call('INFO', 'server'), 'run_id:(%w+)') or 'unknown', 1, 12)
if meta[2] ~= run or epoch < seen or (epoch == seen and run ~= seen_run) then move(run) end
if waits == 'w' then call('HSET', META, 'waited', digits(now)) end

-- Whether claims have to wait for somebody.
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

-- A hint, after all is written: one who may not publish has written all the same.
local function tell(how, channel, message)
  redis.pcall(how, channel, message)
end

local function count()
  mark = call('HINCRBY', META, 'mark', 1)
end

-- The lines, and behind them what every answer tells. Not as one text: the server goes through every text that a script makes.
local function answer(lines)
  lines[#lines + 1] = digits(now) .. ' ' .. digits(epoch) .. ' ' .. digits(mark) .. ' ' .. run
  return lines
end
`
