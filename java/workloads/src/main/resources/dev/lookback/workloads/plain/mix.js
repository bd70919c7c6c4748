// The script of the workload "rhino". Its value is a text that tells everything it computed from the global
// `item`. Must not read the clock or random numbers.

function Tree(left, right) {
  this.left = left;
  this.right = right;
}

Tree.prototype.count = function () {
  return 1 + (this.left ? this.left.count() : 0) + (this.right ? this.right.count() : 0);
};

function tree(depth) {
  return depth === 0 ? new Tree(null, null) : new Tree(tree(depth - 1), tree(depth - 1));
}

function ackermann(m, n) {
  return m === 0 ? n + 1 : n === 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

function numbers(count, seed) {
  var state = seed;
  var list = [];
  for (var i = 0; i < count; i++) {
    state = (state * 1103515 + 12345) % 2147483648;
    list.push(state % 100000);
  }
  return list;
}

function quicksort(list, low, high) {
  while (low < high) {
    var pivot = list[(low + high) >> 1];
    var i = low;
    var j = high;
    while (i <= j) {
      while (list[i] < pivot) i++;
      while (list[j] > pivot) j--;
      if (i <= j) {
        var swap = list[i];
        list[i++] = list[j];
        list[j--] = swap;
      }
    }
    quicksort(list, low, j);
    low = i;
  }
}

function digest(text) {
  var hash = 7;
  for (var i = 0; i < text.length; i++) {
    hash = (hash * 31 + text.charCodeAt(i)) % 1000000007;
  }
  return hash;
}

(function () {
  var list = numbers(6000, item + 1);
  quicksort(list, 0, list.length - 1);
  var words = list.slice(0, 1500).map(function (n) { return "w" + n.toString(36) + (n % 7 === 0 ? "-x" : ""); });
  var counts = {};
  words.forEach(function (word) {
    var key = word.replace(/[0-9]+/g, "#");
    counts[key] = (counts[key] || 0) + 1;
  });
  var text = JSON.stringify({ words: words, counts: counts });
  var back = JSON.parse(text);
  var keys = Object.keys(back.counts).sort();
  return [tree(12).count(), ackermann(2, 60 + (item % 5)), list[17], list[list.length - 1], keys.length,
    digest(text), digest(keys.join(","))].join(" ");
})();
