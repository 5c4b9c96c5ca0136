// Draws the charts of cells tagged "live" in place of their still pictures: Vega's controls above, and what is chosen in
// words. Vega's own interpreter of expressions needs no eval, which the page forbids. Of a chart's parameters `setting`
// names what is chosen, `said` tells it in a sentence, and `steps` is how many a slider has.
for (const live of document.querySelectorAll(".live")) {
  const part = (name) => live.querySelector(name);
  const spec = JSON.parse(part("script").textContent);
  const drawing = document.createElement("div");
  // Its own style sheets are refused by the page, whose own has what is needed of them.
  const looks = { defaultStyle: false, tooltip: { disableDefaultStyle: true } };
  const options = { actions: false, ast: true, bind: part("form"), renderer: "svg", ...looks };
  vegaEmbed(drawing, spec, options).then(({ view }) => {
    part(".drawing").replaceChildren(drawing);
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
    tell();
  });
}
