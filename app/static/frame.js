// What every page has: the look switch, links that keep the language and look, and a header that leaves a small screen to the reader.

const root = document.documentElement;

export function setLook(look) {
  root.dataset.look = look;
  try {
    localStorage.setItem("look", look);
  } catch {} // forbidden storage: the look lasts as long as the page
  const input = document.querySelector(`input[name="look"][value="${look}"]`);
  if (input) input.checked = true;
  rewrite((query) => query.set("look", look));
  root.dispatchEvent(new Event("look"));
}

// Changes the query of this page's address in place, and of every link of the frame.
export function rewrite(change, push = false) {
  const query = new URLSearchParams(location.search);
  change(query);
  const address = `${location.pathname}?${query}${location.hash}`;
  if (address !== location.pathname + location.search + location.hash) history[push ? "pushState" : "replaceState"](null, "", address);
  for (const link of document.querySelectorAll("a[data-lang]")) {
    const own = new URLSearchParams(location.search);
    own.set("lang", link.dataset.lang);
    link.href = `?${own}`;
  }
  for (const link of document.querySelectorAll('a.book, a[rel="prev"], a[rel="next"], a[data-page], .contents a')) {
    const own = new URLSearchParams(link.getAttribute("href"));
    const look = query.get("look");
    look ? own.set("look", look) : own.delete("look");
    link.href = `?${own}`;
  }
}

export function wireLook() {
  const chosen = document.querySelector(`input[name="look"][value="${root.dataset.look}"]`);
  if (chosen) chosen.checked = true;
  for (const input of document.querySelectorAll('input[name="look"]')) input.addEventListener("change", () => setLook(input.value));
}

// On a small screen the header goes while one reads down, and comes back on the way up.
let seen = scrollY;
addEventListener("scroll", () => {
  const by = scrollY - seen;
  if (Math.abs(by) < 6) return;
  seen = scrollY;
  root.toggleAttribute("data-reading", by > 0 && scrollY > 80);
}, {passive: true});
