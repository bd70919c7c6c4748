(: The query of the workload "saxon": joins, groups and sorts a generated auction, and recurses without tail
   calls, so that the depth of the stack is $depth calls. Must not depend on the date, a collation or the order
   in which a processor evaluates. :)
declare variable $depth external;

declare function local:count-down($n as xs:integer) as xs:integer {
  if ($n = 0) then 0 else 1 + (local:count-down($n - 1) * 31 + $n) mod 1000003
};

declare function local:ackermann($m as xs:integer, $n as xs:integer) as xs:integer {
  if ($m = 0) then $n + 1
  else if ($n = 0) then local:ackermann($m - 1, 1)
  else local:ackermann($m - 1, local:ackermann($m, $n - 1))
};

declare function local:reverse($words as xs:string*) as xs:string* {
  if (empty($words)) then () else (local:reverse(tail($words)), head($words))
};

<report>
  <depth>{ local:count-down($depth), local:ackermann(2, 24) }</depth>
  {
    for $person in /auction/person
    let $bids := /auction/bid[@person = $person/@id]
    where count($bids) > 3
    order by sum($bids/xs:integer(.)) descending, $person/@id
    return <bidder id="{$person/@id}" bids="{count($bids)}" total="{sum($bids/xs:integer(.))}">{ upper-case($person) }</bidder>
  }
  {
    for $bid in /auction/bid
    let $item := $bid/@item
    group by $item
    order by max($bid/xs:integer(.)) descending, $item
    return
      let $sold := /auction/item[@id = $item]
      return <sold item="{$item}" price="{max($bid/xs:integer(.))}">{
        string-join(local:reverse(tokenize(normalize-space($sold), '\s+')), ' '),
        <letters>{ string-length(replace($sold, '[aeiou]', '')) }</letters>
      }</sold>
  }
  {
    for $city in distinct-values(/auction/person/@city)
    order by xs:integer($city)
    return <city n="{$city}">{ count(/auction/person[@city = $city]) }</city>
  }
</report>
