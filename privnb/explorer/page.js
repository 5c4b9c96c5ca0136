// HTML from Python. An update keeps the state of the user: focus, opened explanations, a slider that is being moved.

const KEYS = "data-lm-suppress-shortcuts"; // keys go to the focused control, not to JupyterLab's command mode

const held = (node) => node.dataset?.control !== undefined && node.contains(document.activeElement);

function morph(now, next) {
  if (now.nodeName !== next.nodeName || now.dataset?.key !== next.dataset?.key) return now.replaceWith(next);
  if (now.nodeType === Node.TEXT_NODE) {
    if (now.data !== next.data) now.data = next.data;
    return;
  }
  if (now.nodeType !== Node.ELEMENT_NODE || held(now)) return;
  const own = [KEYS, now.nodeName === "DETAILS" ? "open" : "", now === document.activeElement ? "tabindex" : ""];
  for (const { name } of [...now.attributes])
    if (!own.includes(name) && !next.hasAttribute(name)) now.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (!own.includes(name) && now.getAttribute(name) !== value) now.setAttribute(name, value);
  const chosen = next.value; // read before new options move from `next` to `now`
  children(now, next);
  // Once a person has changed a control, it no longer shows the values of its attributes.
  if (now.nodeName === "INPUT") [now.value, now.checked] = [chosen, next.checked];
  if (["SELECT", "TEXTAREA"].includes(now.nodeName)) now.value = chosen;
}

const keyOf = (node) => node?.dataset?.key;

// An element with a key stays the same element, with its state, if others appear or vanish before it.
function children(now, next) {
  const fresh = [...next.childNodes];
  const keys = new Set(fresh.map(keyOf));
  let old = now.firstChild;
  for (const child of fresh) {
    const key = keyOf(child);
    if (key !== undefined && keyOf(old) !== key) {
      let own = old;
      while (own && keyOf(own) !== key) own = own.nextSibling;
      while (own && old !== own) {
        const after = old.nextSibling;
        old.remove();
        old = after;
      }
    }
    const belongsLater = keyOf(old) !== undefined && keyOf(old) !== key && keys.has(keyOf(old));
    if (!old || belongsLater) {
      now.insertBefore(child, old);
      continue;
    }
    const after = old.nextSibling;
    morph(old, child);
    old = after;
  }
  while (old) {
    const after = old.nextSibling;
    old.remove();
    old = after;
  }
}

// The value of a slider is the number of a step, 0, 1, 2, ...; its label names the step while the slider moves.
function label(slider) {
  const text = JSON.parse(slider.dataset.labels)[slider.value];
  slider.setAttribute("aria-valuetext", text);
  slider.closest("[data-control]").querySelector("output").textContent = text;
}

// Mark the request in the next frame; the answer from Python removes the mark.
function markRequest(el) {
  const state = el.closest(".privnb-board, .privnb-tab")?.querySelector(".privnb-state");
  if (!state) return;
  state.dataset.asked = "";
  setTimeout(() => delete state.dataset.asked, 1000); // for a request without an effect
}

// The keys of the parts around the focused element, from the inside out.
function focusedKeys(el) {
  const keys = [];
  for (let node = document.activeElement; node && el.contains(node); node = node.parentElement)
    if (node.dataset.key) keys.push(node.dataset.key);
  return keys;
}

// If an update has removed the focused element, such as the button that added a column, focus its surroundings, or else
// the message about the action.
function refocus(el, keys) {
  if (el.contains(document.activeElement)) return;
  const there = keys.map((key) => el.querySelector(`[data-key="${CSS.escape(key)}"]`)).find((part) => part);
  const control = there?.querySelector("summary, select, button, input[type=number]");
  const target = control ?? el.querySelector("[role=status]:not([hidden]), h3");
  if (!target) return;
  if (target.tabIndex < 0) target.tabIndex = -1; // a text can be focused by a program only
  target.focus({ preventScroll: true });
}

// If an action has hidden its panel, such as "Continue", the focus would be lost: focus the tab that is shown.
function focusTab(el) {
  const active = document.activeElement;
  if (active && active !== document.body && active.offsetParent) return;
  el.querySelector("[role=tab][aria-selected=true]")?.focus();
}

// An element with data-drag can be dropped on one with data-drop; the message has the name of the latter.
function drag(el, model) {
  let dragged = "";
  const mark = (place) => {
    el.querySelectorAll("[data-over]").forEach((each) => each !== place && delete each.dataset.over);
    if (place) place.dataset.over = "";
  };
  const over = (event) => dragged !== "" && event.target.closest?.("[data-drop]");
  el.addEventListener("dragstart", (event) => {
    const item = event.target.closest?.("[data-drag]");
    if (!item) return;
    dragged = item.dataset.drag;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged); // Firefox drags nothing else
  });
  el.addEventListener("dragover", (event) => {
    const place = over(event);
    if (place) event.preventDefault();
    mark(place);
  });
  el.addEventListener("drop", (event) => {
    const place = over(event);
    if (!place) return;
    event.preventDefault();
    model.send({ name: place.dataset.name, value: [dragged, place.dataset.drop] });
  });
  el.addEventListener("dragend", () => (mark(), (dragged = "")));
}

// Without its kernel, a page answers no control; it says so once, above all parts.
function watchKernel(model, el) {
  const manager = model.widget_manager;
  const kernel = manager?.kernel ?? manager?.context?.sessionContext?.session?.kernel;
  const tell = (_, status) => {
    if (!["dead", "autorestarting", "terminating"].includes(status)) return;
    const place = el.closest(".privnb-app, .privnb-board") ?? el;
    if (place.querySelector(":scope > .privnb-ended")) return;
    const said = document.createElement("p");
    said.className = "privnb-trouble privnb-ended";
    said.setAttribute("role", "alert");
    said.textContent =
      "The kernel of this page has ended, so its controls do nothing. Load the page again: the description, the pins, the policy and the statements for the card are kept.";
    place.prepend(said);
  };
  kernel?.statusChanged?.connect(tell);
  return () => kernel?.statusChanged?.disconnect(tell);
}

// A screen reader announces each tab with its panel, which consists of widgets of their own.
function namePanels(el) {
  const panels = el.closest(".privnb-app")?.querySelectorAll(":scope > .privnb-tab") ?? [];
  el.querySelectorAll("[role=tab]").forEach((tab, place) => {
    if (!panels[place]) return;
    panels[place].id = tab.getAttribute("aria-controls");
    panels[place].setAttribute("role", "tabpanel");
    panels[place].setAttribute("aria-labelledby", tab.id);
  });
}

function render({ model, el }) {
  el.classList.add("privnb-live");
  const forget = watchKernel(model, el);
  el.addEventListener("focusin", ({ target }) => target.setAttribute(KEYS, "")); // JupyterLab reads only the target
  const draw = () => {
    const next = document.createElement("div");
    next.innerHTML = model.get("html");
    // An empty part keeps its height, so that the parts below it do not move.
    const had = el.contains(document.activeElement);
    const keys = focusedKeys(el);
    const selected = el.querySelector("[role=tab][aria-selected=true]")?.value;
    const empty = !next.firstElementChild || next.querySelector("[data-empty]");
    el.style.minHeight = empty ? `${el.offsetHeight}px` : "";
    children(el, next);
    if (had) refocus(el, keys);
    const shown = el.querySelector("[role=tab][aria-selected=true]")?.value;
    if (selected && shown !== selected) setTimeout(focusTab, 50, el); // after the panels have changed
    if (el.querySelector("[role=tablist]")) setTimeout(namePanels, 0, el); // after the panels are in the page
  };
  el.addEventListener("input", ({ target }) => target.dataset.labels && label(target));
  el.addEventListener("change", ({ target }) => {
    if (!target.name) return;
    const together = el.querySelectorAll(`input[type=checkbox][name="${target.name}"]:checked`);
    const steps = target.dataset.values && JSON.parse(target.dataset.values);
    const value = target.type === "checkbox" ? [...together].map((box) => box.value) : target.value;
    if (target.closest(".privnb-form")) markRequest(el);
    model.send({ name: target.name, value: steps ? steps[value] : value });
  });
  el.addEventListener("keydown", (event) => {
    const tabs = [...el.querySelectorAll("[role=tab]")];
    const place = tabs.indexOf(event.target.closest?.("[role=tab]"));
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (place < 0 || !step) return;
    event.preventDefault();
    const next = tabs[(place + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
  el.addEventListener("click", ({ target }) => {
    const button = target.closest("button[name]");
    if (button && button.ariaDisabled !== "true") model.send({ name: button.name, value: button.value });
  });
  drag(el, model);
  model.on("change:html", draw);
  draw();
  model.send({ name: "shown", value: "" });
  return () => {
    forget();
    model.off("change:html", draw);
  };
}

export default { render };
