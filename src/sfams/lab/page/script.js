// Filters the table of what left. Without this script the page shows everything all the same.
(function () {
  "use strict";
  var box = document.getElementById("filter");
  var search = document.getElementById("search");
  var shown = document.getElementById("shown");
  var ticks = Array.prototype.slice.call(box.querySelectorAll("input[type=checkbox]"));
  var rows = Array.prototype.slice.call(document.querySelectorAll("#lives tbody tr"));
  function apply() {
    var wanted = search.value.trim().toLowerCase();
    var fates = ticks.filter(function (t) { return t.checked; }).map(function (t) { return t.value; });
    var count = 0;
    rows.forEach(function (row) {
      var fits = fates.indexOf(row.getAttribute("data-fate")) >= 0 && row.textContent.toLowerCase().indexOf(wanted) >= 0;
      row.hidden = !fits;
      count += fits ? 1 : 0;
    });
    shown.textContent = count + " of " + rows.length + " shown";
  }
  box.hidden = false;
  search.addEventListener("input", apply);
  ticks.forEach(function (t) { t.addEventListener("change", apply); });
  apply();
})();
