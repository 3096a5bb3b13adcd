-- part: keys
-- Every key there is. All begin with the key of the namespace: one hash tag, so one script can change all of it.
-- A schedule is a *member*: two hexadecimal digits, its bucket, and its name. The first digit is its shard.
-- Names have no control characters. A fire is `dueAt:nonce` within its schedule; a line of history is its number.
local call, match, sub, gmatch = redis.call, string.match, string.sub, string.gmatch
-- hash: epoch, run (process and promotion of the server), mark, bases, held, waited, format; floor and ended (of removed schedules); clock, logged, regular and
-- dropped (of the log)
local META = KEYS[1]
-- by shard, hash: name -> line, see line.lua
local STATES = META .. ':s:'
-- hash: name -> job, tenant, app, and the settings as JSON
local SETTINGS = META .. ':def'
-- sorted by name: all schedules, those of a job, of a tenant, and those that the code of an app declares
local NAMES = META .. ':names'
local NAMES_OF_JOB = META .. ':names:job:'
local NAMES_OF_TENANT = META .. ':names:tenant:'
local NAMES_OF_APP = META .. ':names:app:'
-- by job, sorted by wakeAt: members
local DUE = META .. ':due:'
-- by schedule, list: lines, of which the first has the number that the schedule's line says. They outlive the schedule.
local HISTORY = META .. ':h:'
-- by schedule, hash: number -> what is too long for a line; token -> what the run told
local BODIES = META .. ':b:'
local NOTES = META .. ':n:'
-- by schedule, hash: nonce -> number of the last line with it
local NONCES = META .. ':nonce:'
-- stream: lines in the order of commits (member, number, ...). The time in an id is that of the commit, and never goes back.
local LOG = META .. ':log'
-- Most lines are *regular*: due and ended within ten seconds before they were written. They are found by their place in the log
-- or in their list. The others are indexed.
-- sorted by dueAt: indexed lines of all schedules (member LF nonce LF number), of one (nonce LF number); those of ranges that are final
local FIRES = META .. ':f'
local FIRES_OF = META .. ':f:'
local RANGES = META .. ':ranges'
local RANGES_OF = META .. ':ranges:'
-- sorted by dueAt: open fires without a run (member LF nonce LF dueAt)
local WAITING = META .. ':waiting'
-- sorted by when the first of their final lines may go, or sooner: members
local EXPIRING = META .. ':expiring'
-- hash: member -> number of the line at which the next prune goes on, and when the first of the lines before it may go ('-': never)
local PRUNING = META .. ':pruning'
-- by day since 1970, hash: hour of the day and reason -> how many fires; and the days, sorted
local COUNTS = META .. ':counts:'
local DAYS = META .. ':days'
-- by instance, set: members with open runs of it; and the set of those instances
local HELD = META .. ':held:'
local HOLDERS = META .. ':holders'
-- by limit, set: open runs that count against it (member LF token)
local SLOT = META .. ':slot:'
-- by schedule, LF, fire: hash of steps; and by schedule the set of fires that have some
local STEPS = META .. ':steps:'
local STEPPED = META .. ':stepped:'
-- hash: what an instance is and when it renewed; the set of those that live; those that are over, sorted by when
local INSTANCE = META .. ':instance:'
local LIVE = META .. ':live'
local GONE = META .. ':gone'
-- the operator log: hash of lines by id; ids sorted by time, by schedule and time, and by when they may go
local ACTIVITY = META .. ':activity'
local ACTIVITY_AT = META .. ':activity:at'
local ACTIVITY_OF = META .. ':activity:of:'
local ACTIVITY_ENDS = META .. ':activity:ends'
-- hash: version, record
local APP = META .. ':app:'

-- Numbers of more than 14 digits would be rounded.
local function digits(number)
  return string.format('%.0f', number)
end
