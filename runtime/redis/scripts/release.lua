-- Takes back grants of a member. Further arguments: the shards.
local FIRST_SHARD = 4

local own = {}
for i = FIRST_SHARD, #ARGV do
  if read('HGET', GRANTS, ARGV[i]) == ME then own[#own + 1] = ARGV[i] end
end
if #own == 0 then return 0 end
redis.call('HDEL', GRANTS, unpack(own))
announce('released')
return #own
