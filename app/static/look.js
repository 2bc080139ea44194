// Before the first paint: the look this reader chose, or the one their system prefers; on a small screen, the lab as a sheet.
(() => {
  const root = document.documentElement;
  let kept = null;
  try {
    kept = localStorage.getItem("look");
  } catch {} // storage may be forbidden; the system's preference serves
  root.dataset.look ||= kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.classList.add("scripted");
  // Too low a window, as at a zoom of 400 %, has no room for a sheet: there the lab stands below the text.
  window.smallScreen = matchMedia("(max-width: 899.98px) and (min-height: 320px)");
  if (window.smallScreen.matches) root.dataset.sheet = location.hash === "#lab" ? "half" : "peek";
})();
