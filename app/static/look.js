// Before the first paint: the look this reader chose, or the one their system prefers.
(() => {
  const root = document.documentElement;
  let kept = null;
  try {
    kept = localStorage.getItem("look");
  } catch {} // storage may be forbidden; the system's preference serves
  root.dataset.look ||= kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.classList.add("scripted");
})();
