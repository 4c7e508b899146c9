-- The Leader replaces the assignment, unless somebody did since it looked. Returns 1 when it was replaced.
-- Further arguments: the generation it saw, the targets as JSON.
local SEEN, TARGETS = tonumber(ARGV[4]), ARGV[5]

if read('GET', LEADER) ~= ME then return 0 end
if assignment() ~= SEEN then return 0 end
redis.call('SET', ASSIGNMENT, string.format('{"generation":%.0f,"targets":%s}', SEEN + 1, TARGETS))
announce('assigned')
return 1
