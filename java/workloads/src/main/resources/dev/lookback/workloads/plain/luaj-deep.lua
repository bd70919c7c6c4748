-- The script of the workload "luaj-deep": functions that recurse 8,000 calls deep, none of them a tail call. Its value
-- is a text that tells everything it computed from the global `item`.

local DEPTH = 8000 - item % 10

local function sum(node)
  if node == nil then return 0 end
  return node.value + sum(node.next)
end

local function chain(n)
  if n == 0 then return nil end
  local rest = chain(n - 1)
  return { value = n % 17, next = rest }
end

local odd
local function even(n)
  if n == 0 then return 1 end
  local other = odd(n - 1)
  return 1 - other
end

function odd(n)
  if n == 0 then return 0 end
  local other = even(n - 1)
  return 1 - other
end

-- A calculator for nested brackets by recursive descent: ((...(1+2)+3...)+n).
local function nested(n)
  local parts = {}
  for i = 1, n do parts[i] = "(" end
  parts[n + 1] = "1"
  for i = 1, n do parts[n + 1 + i] = "+" .. i % 10 .. ")" end
  return table.concat(parts)
end

local function calculate(text)
  local at = 1
  local function expression()
    local value
    if text:byte(at) == 40 then
      at = at + 1
      value = expression()
      while text:byte(at) == 43 do
        value = value + text:byte(at + 1) - 48
        at = at + 2
      end
      at = at + 1
      return value
    end
    value = text:byte(at) - 48
    at = at + 1
    return value
  end
  return expression()
end

local results = {}
for _ = 1, 3 do
  results[#results + 1] = sum(chain(DEPTH))
  results[#results + 1] = even(DEPTH)
  results[#results + 1] = calculate(nested(DEPTH))
end
return table.concat(results, " ")
