-- The script of the workload "luaj". Its value is a text that tells everything it computed from the global `item`.
-- Must not read the clock or random numbers, nor go through a table by `pairs`, whose order is the interpreter's own.

local Tree = {}
Tree.__index = Tree

function Tree.new(depth)
  local self = setmetatable({ depth = depth }, Tree)
  if depth > 0 then
    self.left = Tree.new(depth - 1)
    self.right = Tree.new(depth - 1)
  end
  return self
end

function Tree:count()
  return 1 + (self.left and self.left:count() or 0) + (self.right and self.right:count() or 0)
end

local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end

local function numbers(count, seed)
  local state, list = seed, {}
  for i = 1, count do
    state = (state * 1103515 + 12345) % 2147483648
    list[i] = state % 100000
  end
  return list
end

local function map(list, f)
  local result = {}
  for i = 1, #list do result[i] = f(list[i]) end
  return result
end

local function digest(text)
  local hash = 7
  for i = 1, #text do hash = (hash * 31 + text:byte(i)) % 1000000007 end
  return hash
end

local list = numbers(4000, item + 1)
table.sort(list, function(a, b) return a < b end)
local odd = map(list, function(n) return n * 2 + 1 end)
local words = {}
for i = 1, 800 do
  words[i] = string.format("%d:%s", odd[i], string.rep("x", odd[i] % 7))
end
local text = table.concat(words, ",")
local found = 0
for number in text:gmatch("(%d+):xxx") do found = found + tonumber(number) % 10 end
return table.concat({
  Tree.new(10 + item % 2):count(), ackermann(2, 20 + item % 5), list[1], odd[#odd], found,
  digest(text), digest(text:gsub("x", "yz"))
}, " ")
