-- The transactions of `hortator bench oltp-short`, for sysbench 1.0. Tables, queries and their parameters are those of the
-- installed oltp_common. Each event is one transaction of one kind, drawn with equal chances: five of eight only read.
--
-- --mix=stock runs all kinds in one transaction, as sysbench's own oltp_read_write does: 18 queries.

require("oltp_common")

sysbench.cmdline.options.mix = {"Transactions: short (one kind each) or stock (all kinds in each)", "short"}

local KINDS = {
   {prepare = "prepare_point_selects", execute = "execute_point_selects"},
   {prepare = "prepare_simple_ranges", execute = "execute_simple_ranges"},
   {prepare = "prepare_sum_ranges", execute = "execute_sum_ranges"},
   {prepare = "prepare_order_ranges", execute = "execute_order_ranges"},
   {prepare = "prepare_distinct_ranges", execute = "execute_distinct_ranges"},
   {prepare = "prepare_index_updates", execute = "execute_index_updates", writes = true},
   {prepare = "prepare_non_index_updates", execute = "execute_non_index_updates", writes = true},
   {prepare = "prepare_delete_inserts", execute = "execute_delete_inserts", writes = true},
}

local ffi = require("ffi")
ffi.cdef([[
   int usleep(unsigned int microseconds);
   typedef struct { long seconds; long nanoseconds; } hortator_time;
   int clock_gettime(int clock, hortator_time *time);
]])
local MONOTONIC = 1
local time = ffi.new("hortator_time")

local function now_us()
   ffi.C.clock_gettime(MONOTONIC, time)
   return tonumber(time.seconds) * 1e6 + tonumber(time.nanoseconds) / 1e3
end

-- Of this thread: errors by number, committed transactions, and the time of the COMMIT of those that write.
local errors = {}
local all, reading = 0, 0
local commits, commits_us = 0, 0

function prepare_statements()
   prepare_begin()
   prepare_commit()
   for _, kind in ipairs(KINDS) do
      _G[kind.prepare]()
   end
end

function event()
   local writes = true
   begin()
   if sysbench.opt.mix == "stock" then
      for _, kind in ipairs(KINDS) do
         _G[kind.execute]()
      end
   else
      local kind = KINDS[sysbench.rand.uniform(1, #KINDS)]
      writes = kind.writes
      _G[kind.execute]()
   end
   local begun_us = now_us()
   commit()
   all = all + 1
   if writes then
      commits, commits_us = commits + 1, commits_us + now_us() - begun_us
   else
      reading = reading + 1
   end
end

-- A node that is not ready answers at once: without a pause its threads would keep the machine from the others.
local NOT_READY, PAUSE_US = 1047, 10000
-- sysbench repeats the transaction, and counts all errors together.
local restart = sysbench.hooks.before_restart_event

function sysbench.hooks.before_restart_event(description)
   local number = description.sql_errno
   errors[number] = (errors[number] or 0) + 1
   if restart then
      restart(description)
   end
   if number == NOT_READY then
      ffi.C.usleep(PAUSE_US)
   end
   -- Not every error ends the transaction, and the next BEGIN would commit the half of it that is done.
   pcall(con.query, con, "ROLLBACK")
end

local done = thread_done

-- One call for each line: threads write at the same time, and print ends its line with a second call.
function thread_done()
   io.write(string.format("hortator: transactions %d reading %d\n", all, reading))
   io.write(string.format("hortator: commits %d microseconds %.0f\n", commits, commits_us))
   for number, count in pairs(errors) do
      io.write(string.format("hortator: error %d times %d\n", number, count))
   end
   done()
end
