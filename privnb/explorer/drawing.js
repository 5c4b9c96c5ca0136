// A Vega-Lite chart that keeps its drawing while only its rows change. Bundled with Vega by vl-convert.

const EMBED = { renderer: "svg", actions: false };

function render({ model, el }) {
  let view, form;
  const sendBox = lodashDebounce((_, box) => {
    model.set("box", box ?? {});
    model.save_changes();
  }, 30);

  async function draw() {
    const { datasets, description, ...rest } = model.get("spec");
    const next = JSON.stringify(rest);
    const boxed = Object.keys(model.get("box")).length > 0; // a box on other rows would contain other numbers
    if (view && next === form && !boxed) {
      for (const [name, rows] of Object.entries(datasets)) view.data(name, structuredClone(rows));
      await view.description(description).runAsync();
    } else {
      view?.finalize();
      [view, form] = [undefined, next];
      el.style.minHeight = `${el.offsetHeight}px`; // the page below does not move
      el.replaceChildren();
      if (datasets) {
        ({ view } = await vegaEmbed(el, structuredClone(model.get("spec")), EMBED));
        if (next.includes('"name":"brush"')) view.addSignalListener("brush", sendBox);
        el.style.minHeight = "";
      }
      if (boxed) sendBox(null, {});
    }
    el.dataset.drawn = Number(el.dataset.drawn ?? 0) + 1;
  }

  let last = Promise.resolve();
  const again = () => (last = last.then(draw).catch(console.error));
  again();
  model.on("change:spec", again);
  // Vega watches only the window, and it does so before JupyterLab has given its panels their new widths. The width 0
  // forces an update: Vega ignores a new width that equals the width of the plot without its axes.
  const sized = new ResizeObserver(() => el.clientWidth && view?.width(0).width(el.clientWidth).runAsync());
  sized.observe(el);
  return () => {
    sized.disconnect();
    model.off("change:spec", again);
    view?.finalize();
  };
}

export default { render };
