// Draws the charts of a page again when they come into view, with tooltips, and with controls if a chart has any. The
// drawing that is in the page stays there: it is printed, and shown where this script does not run.
// Vega's own interpreter of expressions needs no eval, which the page forbids. The page also refuses Vega's style sheets,
// and has what is needed of them.
const LOOKS = {
  mode: "vega-lite", actions: false, ast: true, renderer: "svg",
  defaultStyle: false, tooltip: { disableDefaultStyle: true },
};
const NARROW = matchMedia("(max-width: 40rem)");
const views = new Map();

async function draw(figure) {
  const drawing = figure.querySelector(".drawing");
  const { wide, narrow } = JSON.parse(figure.querySelector("script").textContent);
  const spec = narrow && NARROW.matches ? { ...narrow, datasets: wide.datasets } : wide;
  const controls = figure.closest(".live");
  const drawn = document.createElement("div");
  drawn.className = "drawn";
  drawn.ariaHidden = "true"; // the drawing around it has a name, and a table of its numbers below
  const { view } = await vegaEmbed(drawn, spec, { ...LOOKS, bind: controls?.querySelector("form") });
  views.get(figure)?.finalize();
  views.set(figure, view);
  drawing.querySelector(".drawn")?.remove();
  drawing.append(drawn);
  if (controls) connect(controls, spec, view);
}

// Of a chart's parameters `setting` names what is chosen, `said` tells it in a sentence, and `steps` is how many a slider
// has.
function connect(controls, spec, view) {
  const part = (name) => controls.querySelector(name);
  const names = new Set((spec.params || []).map((parameter) => parameter.name));
  const signal = (name) => (names.has(name) ? view.signal(name) : undefined);
  const tell = () => {
    part("output").textContent = signal("said") ?? "";
    for (const slider of part("form").querySelectorAll("input[type=range]")) {
      if (names.has("steps")) {
        slider.max = signal("steps");
        slider.disabled = signal("steps") < 2;
      }
      if (+slider.value !== signal(slider.name)) view.signal(slider.name, +slider.value).runAsync(); // fewer steps
      if (!names.has("setting")) continue;
      slider.setAttribute("aria-valuetext", signal("setting")); // the step itself is only a number
      slider.nextElementSibling.textContent = signal("setting");
    }
  };
  // After a draw, for Vega writes the number of the step beside the slider.
  part("form").addEventListener("input", () => view.runAsync().then(tell));
  part("form").addEventListener("change", () => view.runAsync().then(tell));
  part(".needs").hidden = true;
  tell();
}

const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      draw(target);
    }
  },
  { rootMargin: "200px" },
);
for (const figure of document.querySelectorAll("figure.chart:has(> script)")) seen.observe(figure);
// A page that becomes narrower or wider has another drawing; a chart with controls is the same on both.
NARROW.addEventListener("change", () => [...views.keys()].filter((each) => !each.closest(".live")).forEach(draw));
